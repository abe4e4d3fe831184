/*
 * Loaded into a program before the C library, this makes one change to the files of a folder fail, like a full or broken disk, a
 * kill or a power failure would. scripts/io-faults builds it and controls it by environment variables:
 *
 *   IO_FAULTS_FOLDER  files below this folder count
 *   IO_FAULTS_LOG     gets a line "KIND PATH" before each change
 *   IO_FAULTS_AT      "KIND PATH NUMBER": the fault is at this change of the kind and path, counted from 1
 *   IO_FAULTS_MODE    fail: it returns an error; short: half of it is written, and the next write returns an error; kill: half of
 *                     it is written, and the process ends
 *   IO_FAULTS_SHADOW  a folder that gets what the disk surely has: a file's content and a folder's names at the last sync
 *   IO_FAULTS_BLIND   an extended regular expression: syncs whose "KIND PATH" it matches do nothing for the shadow
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define KILLED 137
#define REAL(name) ((__typeof__(&name))real(#name))

enum action { GO_ON, FAIL, SHORT, KILL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

/* The path relative to the folder, if it is inside. Process numbers in it are replaced by a constant. */
static int below_folder(const char *path, char *relative) {
  const char *folder = getenv("IO_FAULTS_FOLDER");
  size_t length = folder ? strlen(folder) : 0;
  if (!length || strncmp(path, folder, length) || (path[length] && path[length] != '/')) return 0;
  const char *from = path[length] ? path + length + 1 : ".";
  while (*from) {
    size_t digits = strspn(from + 1, "0123456789");
    const char *end = from + 1 + digits;
    if (*from == '.' && digits && (!strncmp(end, ".part", 5) || !strncmp(end, ".merging", 8))) {
      relative += sprintf(relative, ".PROCESS");
      from += 1 + digits;
    } else {
      *relative++ = *from++;
    }
  }
  *relative = 0;
  return 1;
}

static int path_of_fd(int fd, char *path) {
  char link[64];
  sprintf(link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

static int relative_of_fd(int fd, char *relative) {
  char path[PATH_MAX];
  return path_of_fd(fd, path) && below_folder(path, relative);
}

static int relative_of_name(int folder, const char *name, char *relative) {
  char path[2 * PATH_MAX] = "";
  if (*name != '/') {
    if (folder == AT_FDCWD ? !getcwd(path, PATH_MAX) : !path_of_fd(folder, path)) return 0;
    strcat(path, "/");
  }
  strncat(path, name, PATH_MAX);
  return below_folder(path, relative);
}

/* Logs the change and decides what happens to it. */
static enum action decide(const char *kind, const char *relative) {
  static int log_fd = -1, seen = 0;
  char line[PATH_MAX + 64];
  enum action action = GO_ON;
  int saved = errno;
  pthread_mutex_lock(&lock);
  const char *log = getenv("IO_FAULTS_LOG"), *at = getenv("IO_FAULTS_AT"), *mode = getenv("IO_FAULTS_MODE");
  if (log_fd < 0 && log) log_fd = REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  int length = snprintf(line, sizeof line, "%s %s\n", kind, relative);
  if (log_fd >= 0 && REAL(write)(log_fd, line, length) != length) abort();
  line[length - 1] = ' ';
  if (at && mode && !strncmp(at, line, length) && ++seen == atoi(at + length)) {
    action = !strcmp(mode, "fail") ? FAIL : !strcmp(mode, "short") ? SHORT : KILL;
    if (log_fd >= 0 && REAL(write)(log_fd, "here\n", 5) != 5) abort();
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return action;
}

/* Whether a change without content is refused. A kill happens before the change. */
static int refuses(const char *kind, const char *relative, int error) {
  enum action action = decide(kind, relative);
  if (action == GO_ON) return 0;
  if (action == KILL) _exit(KILLED);
  errno = error;
  return 1;
}

/* A file's name in the shadow folder, which no later file can have. */
static int identity(int folder, const char *name, char *out) {
  struct statx found;
  if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &found)) return 0;
  sprintf(out, "%llu-%lld-%u", (unsigned long long)found.stx_ino, (long long)found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
  return 1;
}

static void shadow_content(int fd, int out) {
  char link[64], buffer[65536];
  sprintf(link, "/proc/self/fd/%d", fd);
  int in = REAL(open)(link, O_RDONLY | O_CLOEXEC);
  for (ssize_t read_now; in >= 0 && (read_now = read(in, buffer, sizeof buffer)) > 0;)
    if (REAL(write)(out, buffer, read_now) != read_now) abort();
  if (in >= 0) close(in);
}

static void shadow_names(int fd, int out) {
  char link[64], id[64];
  sprintf(link, "/proc/self/fd/%d", fd);
  DIR *folder = opendir(link);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && identity(dirfd(folder), entry->d_name, id))
      dprintf(out, "%c %s %s\n", entry->d_type == DT_DIR ? 'd' : 'f', id, entry->d_name);
  if (folder) closedir(folder);
}

static int is_blind(const char *kind, const char *relative) {
  const char *blind = getenv("IO_FAULTS_BLIND");
  char line[PATH_MAX + 64];
  regex_t expression;
  if (!blind) return 0;
  snprintf(line, sizeof line, "%s %s", kind, relative);
  if (regcomp(&expression, blind, REG_EXTENDED | REG_NOSUB)) abort();
  int matches = !regexec(&expression, line, 0, NULL, 0);
  regfree(&expression);
  return matches;
}

/* Copies what a sync has secured to the shadow folder. */
static void keep_shadow(int fd, const char *kind, const char *relative) {
  const char *shadow = getenv("IO_FAULTS_SHADOW");
  char id[64] = "root", part[PATH_MAX], path[PATH_MAX];
  if (!shadow || is_blind(kind, relative) || (strcmp(relative, ".") && !identity(fd, "", id))) return;
  pthread_mutex_lock(&lock);
  snprintf(path, sizeof path, "%s/%s", shadow, id);
  snprintf(part, sizeof part, "%s/part", shadow);
  int out = REAL(open)(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) abort();
  (strcmp(kind, "sync") ? shadow_names : shadow_content)(fd, out);
  close(out);
  if (REAL(rename)(part, path)) abort();
  pthread_mutex_unlock(&lock);
}

static int full_fd = -1;

/* The number of bytes that may be written; a negative number makes the write fail. */
static ssize_t writable(int fd, size_t wanted, int *is_last) {
  char relative[PATH_MAX];
  *is_last = 0;
  if (!relative_of_fd(fd, relative)) return wanted;
  enum action action = decide("write", relative);
  if (action == FAIL || (action == GO_ON && fd == full_fd)) {
    errno = ENOSPC;
    return -1;
  }
  if (action == SHORT) full_fd = fd;
  *is_last = action == KILL;
  return action == GO_ON ? wanted : wanted / 2;
}

static ssize_t ended(ssize_t written, int is_last) {
  if (is_last) _exit(KILLED);
  return written;
}

ssize_t write(int fd, const void *bytes, size_t wanted) {
  int is_last;
  ssize_t count = writable(fd, wanted, &is_last);
  return count < 0 ? -1 : ended(REAL(write)(fd, bytes, count), is_last);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char relative[PATH_MAX];
  if (!relative_of_fd(fd, relative)) return REAL(writev)(fd, parts, count);
  /* Writing one part of several is a short write, which every caller must handle. */
  return count ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
}

ssize_t pwrite64(int fd, const void *bytes, size_t wanted, off64_t offset) {
  int is_last;
  ssize_t count = writable(fd, wanted, &is_last);
  return count < 0 ? -1 : ended(REAL(pwrite64)(fd, bytes, count, offset), is_last);
}

ssize_t pwrite(int fd, const void *bytes, size_t wanted, off_t offset) { return pwrite64(fd, bytes, wanted, offset); }

static int synced(int fd, int (*sync)(int)) {
  char relative[PATH_MAX];
  struct stat found;
  if (!relative_of_fd(fd, relative)) return sync(fd);
  const char *kind = !fstat(fd, &found) && S_ISDIR(found.st_mode) ? "sync-folder" : "sync";
  if (refuses(kind, relative, EIO)) return -1;
  /* The real disk need not sync, because the shadow folder has what the disk would contain. */
  keep_shadow(fd, kind, relative);
  return 0;
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

static int opened(int folder, const char *name, int flags, mode_t mode) {
  char relative[PATH_MAX];
  if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && relative_of_name(folder, name, relative)) {
    struct stat found;
    int is_new = (flags & O_CREAT) && fstatat(folder, name, &found, 0);
    if (refuses(is_new ? "create" : "open", relative, is_new ? ENOSPC : EIO)) return -1;
  }
  return REAL(openat)(folder, name, flags, mode);
}

#define WITH_MODE(call) \
  va_list arguments; \
  va_start(arguments, flags); \
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
  va_end(arguments); \
  return call

int open(const char *name, int flags, ...) { WITH_MODE(opened(AT_FDCWD, name, flags, mode)); }
int open64(const char *name, int flags, ...) { WITH_MODE(opened(AT_FDCWD, name, flags | O_LARGEFILE, mode)); }
int openat(int folder, const char *name, int flags, ...) { WITH_MODE(opened(folder, name, flags, mode)); }
int openat64(int folder, const char *name, int flags, ...) { WITH_MODE(opened(folder, name, flags | O_LARGEFILE, mode)); }

int ftruncate64(int fd, off64_t length) {
  char relative[PATH_MAX];
  if (relative_of_fd(fd, relative) && refuses("truncate", relative, EIO)) return -1;
  return REAL(ftruncate64)(fd, length);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int refused_name(const char *kind, int folder, const char *name, int error) {
  char relative[PATH_MAX];
  return relative_of_name(folder, name, relative) && refuses(kind, relative, error);
}

int rename(const char *from, const char *to) {
  return refused_name("rename", AT_FDCWD, to, EIO) ? -1 : REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return refused_name("rename", to_folder, to, EIO) ? -1 : REAL(renameat)(from_folder, from, to_folder, to);
}

int link(const char *from, const char *to) {
  return refused_name("link", AT_FDCWD, to, EPERM) ? -1 : REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  return refused_name("link", to_folder, to, EPERM) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int mkdir(const char *name, mode_t mode) {
  return refused_name("mkdir", AT_FDCWD, name, ENOSPC) ? -1 : REAL(mkdir)(name, mode);
}

int unlink(const char *name) { return refused_name("unlink", AT_FDCWD, name, EACCES) ? -1 : REAL(unlink)(name); }

int unlinkat(int folder, const char *name, int flags) {
  return refused_name("unlink", folder, name, EACCES) ? -1 : REAL(unlinkat)(folder, name, flags);
}

int rmdir(const char *name) { return refused_name("unlink", AT_FDCWD, name, EACCES) ? -1 : REAL(rmdir)(name); }
