//! Conversations in a file without a name beside the suite that they become, so that an import
//! takes the memory of its largest conversation and not of all of them. The file goes when the
//! import ends, however it ends.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::write_line;

use crate::walk::Walk;

pub(super) struct Spool {
    out: BufWriter<File>,
}

impl Spool {
    /// An empty one in the folder of a file.
    pub(super) fn beside(file: &Path) -> io::Result<Self> {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Ok(Spool {
            out: BufWriter::new(tempfile::tempfile_in(folder)?),
        })
    }

    pub(super) fn push(&mut self, scenario: &Scenario) -> io::Result<()> {
        write_line(&mut self.out, scenario)
    }

    /// Gives every conversation with its number from 0, in the order in which they came.
    pub(super) fn each(
        &mut self,
        mut visit: impl FnMut(usize, Scenario) -> io::Result<()>,
    ) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut lines = BufReader::new(&mut *file);
        let mut line = Vec::new();
        for number in 0.. {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            visit(number, serde_json::from_slice(&line)?)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }
}

impl Walk for Spool {
    type Error = io::Error;

    fn walk(&mut self, visit: &mut dyn FnMut(&Scenario)) -> io::Result<()> {
        self.each(|_, scenario| {
            visit(&scenario);
            Ok(())
        })
    }
}
