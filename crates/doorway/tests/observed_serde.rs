//! A status as JSON.

use doorway::Slots;
use doorway::observed::Histogram;
use serde_json::{Value, json};

#[test]
fn a_status_is_serialized_whole() {
    let slots = Slots::new(2).unwrap().observed("gpus");
    drop(slots.acquire().unwrap());
    let (_held, line) = (slots.acquire().unwrap(), line!());
    let status = slots.status();
    let value = serde_json::to_value(&status).unwrap();
    let holder = &status.holders[0];
    for (field, expected) in [
        ("name", json!("gpus")),
        ("places", json!(2)),
        ("available", json!(1)),
        ("closed", json!(false)),
        ("waiters", json!(0)),
        ("oldest_wait", Value::Null),
        ("waiting_at", json!([])),
        ("granted", json!(2)),
    ] {
        assert_eq!(value[field], expected, "{field}");
    }
    let shown = &value["holders"][0];
    assert_eq!((&shown["slot"], &shown["fence"]), (&json!(holder.slot), &json!(holder.fence)));
    assert!(shown["site"].as_str().unwrap().starts_with(&format!("{}:{line}:", file!())));
    assert_eq!(shown["held_for"]["nanos"], json!(holder.held_for.subsec_nanos()));
    assert!(shown["caller"]["Thread"]["id"].as_str().unwrap().starts_with("ThreadId("));
    let counts: Vec<u64> = serde_json::from_value(value["waits"]["counts"].clone()).unwrap();
    assert_eq!((counts.len(), counts[0]), (Histogram::BUCKETS, 2));
}
