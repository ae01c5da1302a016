//! Slots between machines: `status` and `break` with `--etcd`, and how a cluster is found.

use crate::Exit;
use crate::output::{print, visible, visible_json};
use doorway_etcd::blocking::Slots;
use doorway_etcd::{Builder, Certificate, Error, Identity, Known, Status, TlsOptions};
use serde_json::{Value, json};
use std::ffi::OsString;

/// The cluster at these endpoints, with what the environment says of users and certificates.
pub(crate) fn builder(endpoints: &str, name: &str, slots: Option<usize>) -> Result<Builder, String> {
    let endpoints = endpoints.split(',').map(str::trim).filter(|endpoint| !endpoint.is_empty());
    let mut builder = match slots {
        Some(slots) => doorway_etcd::Slots::builder(endpoints, name, slots),
        None => doorway_etcd::Slots::existing(endpoints, name),
    };
    if let Ok(user) = std::env::var("DOORWAY_ETCD_USER") {
        let Some((user, password)) = user.split_once(':') else {
            return Err("DOORWAY_ETCD_USER must be a name and a password, with a colon between them".to_owned());
        };
        builder = builder.user(user, password);
    }
    let file = |variable: &str| {
        let Some(path) = std::env::var_os(variable) else { return Ok(None) };
        std::fs::read(&path).map(Some).map_err(|error| format!("cannot read {variable}, {}: {error}", path.display()))
    };
    let (ca, cert, key) = (file("DOORWAY_ETCD_CA")?, file("DOORWAY_ETCD_CERT")?, file("DOORWAY_ETCD_KEY")?);
    if ca.is_some() || cert.is_some() {
        let mut tls = TlsOptions::new();
        if let Some(ca) = ca {
            tls = tls.ca_certificate(Certificate::from_pem(ca));
        }
        match (cert, key) {
            (Some(cert), Some(key)) => tls = tls.identity(Identity::from_pem(cert, key)),
            (None, None) => {}
            _ => return Err("DOORWAY_ETCD_CERT and DOORWAY_ETCD_KEY belong together; set both".to_owned()),
        }
        builder = builder.tls(tls);
    }
    Ok(builder)
}

/// A command line, for people.
pub(crate) fn words(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ").chars().take(64).collect()
}

fn connect(endpoints: &str, name: &str) -> Result<Slots, String> {
    Slots::with(builder(endpoints, name, None)?).map_err(|error| error.to_string())
}

/// One look.
pub(crate) fn status(endpoints: &str, name: &str, json: bool) -> Result<Exit, String> {
    let looked = connect(endpoints, name).and_then(|slots| slots.status().map_err(|error| error.to_string()));
    match looked {
        Ok(status) if json => {
            let text = serde_json::to_string_pretty(&as_json(&status)).map_err(|error| error.to_string())?;
            print(&(visible_json(&text) + "\n"))?;
        }
        Ok(status) => print(&as_text(&status))?,
        Err(error) => {
            eprintln!("doorway: {}", visible(&error));
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Fine)
}

fn as_json(status: &Status) -> Value {
    let known = |known: &Known| json!({ "host": known.host, "pid": known.pid, "label": known.label });
    let with = |mut value: Value, more: Value| {
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more);
        }
        value
    };
    let holders = status.holders.iter().map(|h| with(json!({ "slot": h.slot, "fence": h.fence }), known(&h.known)));
    let waiters = status.waiters.iter().map(|w| with(json!({ "ticket": w.ticket }), known(&w.known)));
    json!({
        "name": status.name,
        "slots": status.slots,
        "holders": holders.collect::<Vec<_>>(),
        "waiters": waiters.collect::<Vec<_>>(),
    })
}

fn who(known: &Known) -> [String; 3] {
    let text = |text: &Option<String>| text.as_deref().map_or("?".to_owned(), visible);
    [text(&known.host), known.pid.map_or("?".to_owned(), |pid| pid.to_string()), text(&known.label)]
}

fn as_text(status: &Status) -> String {
    let (held, waiting) = (status.holders.len(), status.waiters.len());
    let mut text = format!("{}: {held} of {} held, {waiting} waiting\n", visible(&status.name), status.slots);
    if held > 0 {
        text += "  SLOT       FENCE  HOST              PID  LABEL\n";
    }
    for holder in &status.holders {
        let [host, pid, label] = who(&holder.known);
        text += &format!("  {:>4}  {:>10}  {host:<12}  {pid:>7}  {label}\n", holder.slot, holder.fence);
    }
    if waiting > 0 {
        text += "  LINE      TICKET  HOST              PID  LABEL\n";
    }
    for (i, waiter) in status.waiters.iter().enumerate() {
        let [host, pid, label] = who(&waiter.known);
        text += &format!("  {:>4}  {:>10}  {host:<12}  {pid:>7}  {label}\n", i + 1, waiter.ticket);
    }
    text
}

/// Takes a slot away, after a question.
pub(crate) fn break_slot(
    endpoints: &str,
    name: &str,
    slot: usize,
    fence: Option<u64>,
    is_confirmed: impl FnOnce() -> Result<bool, String>,
) -> Result<Exit, String> {
    let fails = |error: Error| {
        eprintln!("doorway: {}", visible(&error.to_string()));
        Ok(if matches!(error, Error::NoSuchSlot { .. }) { Exit::BadUsage } else { Exit::Failed })
    };
    let slots = match connect(endpoints, name) {
        Ok(slots) => slots,
        Err(error) => {
            eprintln!("doorway: {}", visible(&error));
            return Ok(Exit::Failed);
        }
    };
    let status = match slots.status() {
        Ok(status) => status,
        Err(error) => return fails(error),
    };
    if slot >= status.slots {
        return fails(Error::NoSuchSlot { slot, slots: status.slots });
    }
    let name = visible(name);
    let Some(holder) = status.holders.iter().find(|holder| holder.slot == slot) else {
        eprintln!("doorway: slot {slot} of {name} is free; `doorway status` shows the slots that are held");
        return Ok(Exit::Failed);
    };
    if let Some(fence) = fence.filter(|fence| *fence != holder.fence) {
        eprintln!(
            "doorway: slot {slot} of {name} has another holder, with fence {} instead of {fence}; see `doorway status`",
            holder.fence
        );
        return Ok(Exit::Failed);
    }
    let [host, pid, label] = who(&holder.known);
    eprintln!("slot {slot} of {name} is held by process {pid} on {host} ({label})");
    eprintln!("It learns that it has lost the slot, but may go on for a while, beside the next holder.");
    if !is_confirmed()? {
        eprintln!("nothing was done");
        return Ok(Exit::Failed);
    }
    match slots.break_holder(slot, holder.fence) {
        Ok(Some(_)) => {
            print(&format!("slot {slot} of {name} is broken: fences up to {} are stale\n", holder.fence))?;
            Ok(Exit::Fine)
        }
        Ok(None) => {
            eprintln!("doorway: slot {slot} of {name} has changed hands in the meantime; nothing was done");
            Ok(Exit::Failed)
        }
        Err(error) => fails(error),
    }
}
