package import TenureStore

/// The second step as it stood in releases after it had landed: it was edited three times before the edits got a step
/// of their own, and records were made by each.
package enum EditedLifecycle: String, Sendable, CaseIterable {
    /// With messages for webhooks.
    case messages
    /// With acts of people too, and purchases by the UUID that the app gave them.
    case acts
    case last

    private var hasActs: Bool { self != .messages }
    private var hasTokens: Bool { self == .acts }
    private var hasRequestTimes: Bool { self == .last }

    private static let tokens = """
        CREATE INDEX identities_by_account_token ON identities (realm, kind, substr(value, 1, 36)) WHERE kind = 7;
        """

    private static let actsOfPeople = """
        CREATE INDEX audit_by_customer ON audit (customer) WHERE customer IS NOT NULL;

        -- What a key asked for under an id of its own making: asked again, it is the same act. `act` spells it.
        CREATE TABLE requests (
            actor TEXT NOT NULL,
            request TEXT NOT NULL,
            customer TEXT NOT NULL,
            act TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (actor, request)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX requests_by_customer ON requests (customer);
        """

    /// All steps that a release had, of which the second is this one.
    package var migrations: [Migration] {
        let others = Migration.all.filter { !["2 lifecycle", "7 announcements"].contains($0.name) }
        return [others[0], migration] + (self == .last ? others.dropFirst() : [])
    }

    private var migration: Migration {
        let form = self
        let (people, tokens) = (Self.actsOfPeople, Self.tokens)
        return Migration(
            "2 lifecycle",
            [
                .shared(
                    """
                    -- A customer who turned out to be another: what was written of them stays theirs, and counts there.
                    ALTER TABLE customers ADD COLUMN merged_into INTEGER REFERENCES customers (id);
                    CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;
                    -- What the world was last told of their rights (JSON), and when to look at them again: because one
                    -- ends then, or because something changed and nobody has looked since.
                    ALTER TABLE customers ADD COLUMN announced TEXT;
                    ALTER TABLE customers ADD COLUMN next_end INTEGER;
                    CREATE INDEX customers_by_end ON customers (next_end) WHERE next_end IS NOT NULL;
                    -- Who were parted by hand are never joined again by what comes later.
                    CREATE TABLE separations (
                        first INTEGER NOT NULL REFERENCES customers (id),
                        second INTEGER NOT NULL REFERENCES customers (id),
                        PRIMARY KEY (first, second)
                    ) STRICT;
                    \(form.hasActs ? "CREATE INDEX separations_by_second ON separations (second);" : "")

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

                    -- Sessions of a trial, each once; never removed by what a client sends.
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

                    \(form.hasActs ? people : "")
                    \(form.hasRequestTimes ? "CREATE INDEX requests_by_time ON requests (at);" : "")
                    \(form.hasTokens ? tokens : "")

                    -- Who is told what; `types` with blanks between, or `*`. What the configuration says, kept here so that
                    -- every act of every process knows it. Empty: nothing is written below.
                    CREATE TABLE endpoints (
                        name TEXT NOT NULL PRIMARY KEY,
                        types TEXT NOT NULL
                    ) STRICT;

                    -- What the world is told, written in the transaction in which it became true. `public_id` and
                    -- `user_ids` (JSON) are those of that instant; `data` is a JSON object.
                    CREATE TABLE outbox (
                        id INTEGER PRIMARY KEY,
                        event TEXT NOT NULL UNIQUE,
                        type TEXT NOT NULL,
                        customer INTEGER REFERENCES customers (id),
                        realm INTEGER,
                        public_id TEXT,
                        user_ids TEXT,
                        data TEXT NOT NULL,
                        created_at INTEGER NOT NULL
                    ) STRICT;
                    CREATE INDEX outbox_by_customer ON outbox (customer);
                    CREATE INDEX outbox_by_time ON outbox (created_at);
                    -- `next_at` is NULL once it was delivered, or given up; `queued_at` is when its days of tries began.
                    CREATE TABLE deliveries (
                        id INTEGER PRIMARY KEY,
                        message INTEGER NOT NULL REFERENCES outbox (id),
                        endpoint TEXT NOT NULL,
                        customer INTEGER,
                        attempts INTEGER NOT NULL,
                        queued_at INTEGER NOT NULL,
                        next_at INTEGER,
                        delivered_at INTEGER,
                        UNIQUE (message, endpoint)
                    ) STRICT;
                    CREATE INDEX deliveries_by_time ON deliveries (endpoint, next_at, id) WHERE next_at IS NOT NULL;
                    CREATE INDEX deliveries_by_customer ON deliveries (endpoint, customer, id) WHERE next_at IS NOT NULL;
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
}
