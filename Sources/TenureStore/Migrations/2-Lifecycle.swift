extension Migration {
    static let lifecycle = Migration(
        "2 lifecycle",
        [
            .shared(
                """
                -- A customer who turned out to be another: what was written of them stays theirs, and counts there.
                ALTER TABLE customers ADD COLUMN merged_into INTEGER REFERENCES customers (id);
                CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;
                -- When the next of their rights ends, for those who want to be told beforehand.
                ALTER TABLE customers ADD COLUMN next_end INTEGER;
                CREATE INDEX customers_by_end ON customers (next_end) WHERE next_end IS NOT NULL;
                -- Who were parted by hand are never joined again by what comes later.
                CREATE TABLE separations (
                    first INTEGER NOT NULL REFERENCES customers (id),
                    second INTEGER NOT NULL REFERENCES customers (id),
                    PRIMARY KEY (first, second)
                ) STRICT;

                ALTER TABLE support_acts ADD COLUMN reason TEXT;
                ALTER TABLE support_acts ADD COLUMN actor TEXT;

                -- What happened to a customer beside artifacts and support; `detail` is a JSON object.
                CREATE TABLE events (
                    id INTEGER PRIMARY KEY,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    kind TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    actor TEXT,
                    detail TEXT
                ) STRICT;
                CREATE INDEX events_by_customer ON events (customer);

                -- App Store Server Notifications, each once. With a header, `bytes` begins at the dot after it.
                CREATE TABLE notifications (
                    id INTEGER PRIMARY KEY,
                    realm INTEGER NOT NULL,
                    uuid TEXT NOT NULL,
                    type TEXT NOT NULL,
                    subtype TEXT,
                    signed_at INTEGER,
                    received_at INTEGER NOT NULL,
                    customer INTEGER REFERENCES customers (id),
                    header INTEGER REFERENCES headers (id),
                    bytes BLOB NOT NULL,
                    UNIQUE (realm, uuid)
                ) STRICT;
                CREATE INDEX notifications_by_customer ON notifications (customer);

                -- Devices on which an acquisition was seen, by the hash of their id.
                CREATE TABLE devices (
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    device TEXT NOT NULL,
                    first_seen INTEGER NOT NULL,
                    last_seen INTEGER NOT NULL,
                    certificates INTEGER NOT NULL,
                    PRIMARY KEY (customer, device)
                ) STRICT;

                CREATE TABLE trial_sessions (
                    id INTEGER PRIMARY KEY,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    entitlement TEXT NOT NULL,
                    session TEXT NOT NULL,
                    began_at INTEGER NOT NULL,
                    UNIQUE (customer, entitlement, session)
                ) STRICT;

                -- `secret` is a hash.
                CREATE TABLE admin_keys (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    scope TEXT NOT NULL,
                    secret BLOB NOT NULL UNIQUE,
                    created_at INTEGER NOT NULL,
                    revoked_at INTEGER
                ) STRICT;

                -- Every act of a person. Append-only. `customer` is a public id, which outlives an erasure.
                CREATE TABLE audit (
                    id INTEGER PRIMARY KEY,
                    at INTEGER NOT NULL,
                    actor TEXT NOT NULL,
                    act TEXT NOT NULL,
                    customer TEXT,
                    detail TEXT
                ) STRICT;

                -- What the world is told, written in the transaction in which it became true.
                CREATE TABLE outbox (
                    id INTEGER PRIMARY KEY,
                    event TEXT NOT NULL UNIQUE,
                    type TEXT NOT NULL,
                    customer INTEGER REFERENCES customers (id),
                    body BLOB NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE deliveries (
                    id INTEGER PRIMARY KEY,
                    message INTEGER NOT NULL REFERENCES outbox (id),
                    endpoint TEXT NOT NULL,
                    attempts INTEGER NOT NULL,
                    next_at INTEGER,
                    delivered_at INTEGER,
                    UNIQUE (message, endpoint)
                ) STRICT;
                CREATE INDEX deliveries_by_time ON deliveries (next_at) WHERE next_at IS NOT NULL;
                CREATE TABLE delivery_log (
                    id INTEGER PRIMARY KEY,
                    delivery INTEGER NOT NULL REFERENCES deliveries (id),
                    at INTEGER NOT NULL,
                    status INTEGER,
                    detail TEXT
                ) STRICT;
                CREATE INDEX delivery_log_by_delivery ON delivery_log (delivery);

                -- Work that waits: each subject once per kind.
                CREATE TABLE jobs (
                    id INTEGER PRIMARY KEY,
                    kind TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    customer INTEGER REFERENCES customers (id),
                    due_at INTEGER NOT NULL,
                    attempts INTEGER NOT NULL,
                    UNIQUE (kind, subject)
                ) STRICT;
                CREATE INDEX jobs_by_time ON jobs (due_at);

                -- How far something got.
                CREATE TABLE marks (
                    name TEXT NOT NULL PRIMARY KEY,
                    value TEXT NOT NULL
                ) STRICT;
                """),
            .only(
                .sqlite,
                """
                CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
                CREATE TRIGGER audit_stays_whole BEFORE DELETE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
                """),
            .only(
                .postgres,
                """
                CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$;
                CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit
                    FOR EACH ROW EXECUTE FUNCTION audit_stays();
                CREATE TRIGGER audit_stays_whole BEFORE TRUNCATE ON audit
                    FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
                """),
        ])
}
