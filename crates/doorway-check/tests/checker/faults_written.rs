//! How faults are written: what is one, and what is none.

use doorway_check::faults::Faults;

#[test]
fn what_is_written_is_what_is_read() {
    for text in [
        "drop:7",
        "drop:slot1.4=0",
        "drop:block0.slot1.4=-1",
        "drop:root.9",
        "drop:7@p1=p0",
        "defer:7",
        "defer:6=0",
        "defer:1>4",
        "defer:node.1>4=true",
        "defer:node1.12>node2.12",
        "drop:node1.*",
        "split:7",
        "blind:14",
        "force:6",
        "bits:Next=1",
        "atomic:Want1",
        "drop:9=seen",
        "nowait:slot.5@p0",
        "read:7=me",
        "read:7+1",
        "read:8=1>2",
        "read:slot1.7-1",
        "read:7!",
        "write:7=p0",
        "write:7=nobody",
        "to:5:flag[me]",
        "to:5:[+1]",
        "to:5:node0.turn",
        "wait:7:flag[me+1]=false",
        "wait:7:Q!=me",
        "then-wait:7:X=-1",
        "set:2:slot1.turn=1",
        "then-set:25:number[me]=0",
        "init:X=2",
        "init:X+1",
        "init:slot1.X-1",
        "init:flag[2]=true",
        "init:X=-1",
        "drop:3,drop:5=0,init:X=1",
    ] {
        let faults: Faults = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(faults.to_string(), text);
    }
}

#[test]
fn what_is_no_fault_is_refused() {
    for text in [
        "",
        "drop",
        "drop:",
        "drop:x",
        "drop:7=",
        "drop:7=x",
        "drop:.7",
        "drop:7@1",
        "drop:7@p",
        "fail:7",
        "split:7=1",
        "nowait:7+1",
        "read:7",
        "write:7",
        "to:5",
        "to:5:",
        "to:5:a/b",
        "wait:7",
        "wait:7:Q",
        "set:7:Q!=1",
        "init:X",
        "init:=1",
        "drop:7,",
        "drop:99999",
        "defer:1>",
        "bits:X=0",
        "bits:X",
        "to:5:flag[",
        "to:5:flag[x]",
    ] {
        let error = text.parse::<Faults>().unwrap_err();
        assert!(error.to_string().contains("is no fault; write one such as"), "{text}");
    }
}
