//! Users and passwords; encrypted connections.

use crate::resource::assert_all_free;
use crate::{builder, with_cluster};
use doorway_etcd::Error;

#[test]
fn users() {
    with_cluster("users", 1, async |servers| {
        let mut client = etcd_client::Client::connect(servers.endpoints(), None).await.unwrap();
        client.user_add("root", "secret", None).await.unwrap();
        client.role_add("root").await.unwrap();
        client.user_grant_role("root", "root").await.unwrap();
        // A user that may only use keys below a prefix.
        client.user_add("worker", "other", None).await.unwrap();
        client.role_add("worker").await.unwrap();
        let keys = etcd_client::Permission::read_write("jobs/").with_prefix();
        client.role_grant_permission("worker", keys).await.unwrap();
        client.user_grant_role("worker", "worker").await.unwrap();
        client.auth_enable().await.unwrap();

        let slots = builder(&servers, 2).user("worker", "other").prefix("jobs").connect().await.unwrap();
        let guard = slots.acquire().await.unwrap();
        guard.release().await.unwrap();
        assert_all_free(&slots).await;

        let elsewhere = builder(&servers, 2).user("worker", "other").prefix("elsewhere").connect().await;
        assert!(matches!(elsewhere, Err(Error::Refused(_))), "{elsewhere:?}");
        let wrong = builder(&servers, 2).user("worker", "wrong").prefix("jobs").connect().await;
        assert!(matches!(wrong, Err(Error::Refused(_))), "{wrong:?}");
        let nobody = builder(&servers, 2).prefix("jobs").connect().await;
        assert!(matches!(nobody, Err(Error::Refused(_))), "{nobody:?}");
    });
}

#[cfg(feature = "tls")]
#[test]
fn encrypted_connections() {
    use crate::servers::{Servers, binary, skipped};
    use doorway_etcd::{Certificate, Slots, TlsOptions};
    use std::process::Command;

    if binary().is_none() {
        return skipped("encrypted_connections", "there is no etcd");
    }
    let place = std::env::temp_dir().join(format!("doorway-etcd-tls-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let openssl = |words: &str| {
        let out = Command::new("openssl").args(words.split(' ')).current_dir(&place).output();
        out.is_ok_and(|out| out.status.success())
    };
    std::fs::write(place.join("san"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n").unwrap();
    let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    let made = openssl(&format!("req -x509 {new} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"))
        && openssl(&format!("req {new} -keyout member.key -out member.csr -subj /CN=member"))
        && openssl(
            "x509 -req -in member.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san -out member.pem",
        );
    if !made {
        return skipped("encrypted_connections", "there is no openssl to make certificates with");
    }
    let servers = Servers::start_encrypted(place.join("member.pem"), place.join("member.key")).unwrap();
    crate::in_a_runtime(async {
        let ca = Certificate::from_pem(std::fs::read(place.join("ca.pem")).unwrap());
        let tls = TlsOptions::new().ca_certificate(ca);
        let slots = builder(&servers, 1).tls(tls).connect().await.unwrap();
        slots.acquire().await.unwrap().release().await.unwrap();
        assert_all_free(&slots).await;
        // A client that does not know the authority does not talk to the member.
        let limit = std::time::Duration::from_millis(500);
        let stranger = Slots::builder(servers.endpoints(), "test", 1).connect_timeout(limit).connect().await;
        assert!(stranger.is_err());
    });
    drop(servers);
    std::fs::remove_dir_all(place).unwrap();
}
