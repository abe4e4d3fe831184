//! Each model that the arguments name: its key, its server, whether that knows it, and its clock.

use std::time::{Duration, SystemTime};

use compactometer_engine::model::{ChatError, ChatModel, ChatRequest};
use compactometer_models::cassette::Cassette;
use compactometer_models::http::{Client, Receiver, ServerInfo, TransferLimits};

use super::DoctorArgs;
use super::DoctorCheck;
use crate::arguments::RunArgs;
use crate::arguments::roles::Roles;
use crate::output::failure::Failure;

/// A larger difference between a server's clock and ours gets a warning, since dates of retries and
/// records depend on it. An assumed limit.
const SKEW: Duration = Duration::from_secs(300);
/// Most models that a message lists.
const LISTED: usize = 8;

/// The models that a run calls.
pub(super) fn models_of_run(args: &RunArgs) -> Roles<String> {
    Roles::from_arguments(&args.setting, args.judge.as_deref())
}

pub(super) fn checks(args: &DoctorArgs) -> Result<Vec<DoctorCheck>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::failed)?;
    let mut checks = Vec::new();
    let named = models_of_run(&args.run);
    for (role, spec) in named.iter() {
        checks.extend(runtime.block_on(of_model(role.flag(), spec, args.call)));
    }
    if let Some(record) = &args.run.setting.record {
        let folders = named.iter().map(|(role, spec)| (role.folder(record), spec));
        checks.extend(
            folders
                .filter(|(folder, _)| folder.exists())
                .filter_map(|(folder, spec)| tape(&folder, spec)),
        );
    }
    Ok(checks)
}

async fn of_model(part: &'static str, spec: &str, call: bool) -> Vec<DoctorCheck> {
    match compactometer_models::receiver(spec) {
        Err(error) => vec![DoctorCheck::problem(part, error.to_string())],
        Ok(None) => vec![in_process(part, spec)],
        Ok(Some(receiver)) => served(part, spec, &receiver, call).await,
    }
}

/// A model without a server.
fn in_process(part: &'static str, spec: &str) -> DoctorCheck {
    match compactometer_models::by_name(spec) {
        Ok(model) => DoctorCheck::ok(
            part,
            format!("`{}` answers without a server or a key", model.name()),
        ),
        Err(error) => DoctorCheck::problem(part, error.to_string()),
    }
}

/// A model behind HTTP. Makes one free request and, if `call` is set, one that is billed.
async fn served(
    part: &'static str,
    spec: &str,
    receiver: &Receiver,
    call: bool,
) -> Vec<DoctorCheck> {
    let limits = TransferLimits {
        repeats: 0,
        ..TransferLimits::default()
    };
    let client = match compactometer_models::client_of(spec, limits) {
        Ok(Some(client)) => client,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![DoctorCheck::problem(part, error.to_string())],
    };
    let greeting = match client.probe().await {
        Ok(greeting) => greeting,
        Err(error) => return vec![DoctorCheck::problem(part, words(&error))],
    };
    let answered = if call {
        Some(one_token(&client).await)
    } else {
        None
    };
    let mut checks = vec![known(part, receiver, &greeting, answered.as_ref())];
    checks.extend(
        greeting
            .date
            .and_then(|date| clock(&receiver.host, date, SystemTime::now())),
    );
    checks
}

/// The smallest call: one token of output.
async fn one_token(client: &Client) -> Result<(), ChatError> {
    let request = ChatRequest::prompt("Say yes.".to_owned(), 1, Some(0.0), 0);
    client.complete(&request).await.map(drop)
}

/// Whether the server has the model. An answer is better evidence than the server's list.
fn known(
    part: &'static str,
    receiver: &Receiver,
    greeting: &ServerInfo,
    answered: Option<&Result<(), ChatError>>,
) -> DoctorCheck {
    let Receiver { name, host, .. } = receiver;
    let listed = greeting
        .models
        .iter()
        .take(LISTED)
        .map(|model| format!("`{model}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match (answered, greeting.knows_model) {
        (Some(Err(error)), _) => DoctorCheck::problem(part, words(error)),
        (Some(Ok(())), Some(false)) => {
            let told = format!(
                "`{host}` answers for `{name}` and lists other models ({listed}); name one of them, since records say who answered"
            );
            DoctorCheck::warning(part, told)
        }
        (Some(Ok(())), _) => DoctorCheck::ok(part, format!("`{name}` answers at `{host}`")),
        (None, Some(true)) => DoctorCheck::ok(part, format!("`{host}` has `{name}`")),
        (None, Some(false)) if listed.is_empty() => DoctorCheck::problem(
            part,
            format!("`{host}` knows no `{name}`; look up the model's name"),
        ),
        (None, Some(false)) => DoctorCheck::problem(
            part,
            format!("`{host}` has no `{name}`; choose from {listed}"),
        ),
        (None, None) => {
            let told = format!(
                "`{host}` answers and lists no models; `--call` makes one call of one token, and shows whether it has `{name}`"
            );
            DoctorCheck::warning(part, told)
        }
    }
}

fn clock(host: &str, theirs: SystemTime, ours: SystemTime) -> Option<DoctorCheck> {
    let apart = ours
        .duration_since(theirs)
        .or_else(|_| theirs.duration_since(ours))
        .unwrap_or_default();
    (apart > SKEW).then(|| {
        let told = format!(
            "this machine's clock and that of `{host}` are {} s apart; set this one",
            apart.as_secs()
        );
        DoctorCheck::warning("clock", told)
    })
}

/// How many of the model's calls the recording already holds.
fn tape(folder: &std::path::Path, spec: &str) -> Option<DoctorCheck> {
    let receiver = compactometer_models::receiver(spec).ok().flatten();
    let name = receiver
        .map(|receiver| receiver.name)
        .or_else(|| Some(compactometer_models::by_name(spec).ok()?.name().to_owned()))?;
    Some(match Cassette::replies(folder, &name) {
        Ok(replies) => DoctorCheck::ok(
            "recording",
            format!(
                "`{}` holds {} replies of `{name}`",
                folder.display(),
                replies.len()
            ),
        ),
        Err(error) => DoctorCheck::problem("recording", error.to_string()),
    })
}

fn words(error: &ChatError) -> String {
    match error {
        ChatError::Unavailable { why, .. } => why.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_be_five_minutes_apart_either_way() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(43_200);
        assert_eq!(clock("host", noon, noon + SKEW), None);
        assert_eq!(clock("host", noon + SKEW, noon), None);
        for (theirs, ours) in [(noon, noon + 2 * SKEW), (noon + 2 * SKEW, noon)] {
            let told = clock("host", theirs, ours).expect("a warning").line();
            assert!(told.contains("600 s apart; set this one"), "{told}");
        }
    }
}
