extension Migration {
    /// What was written into `2 lifecycle` after it had landed, as a step of its own. It runs right after that one, since
    /// `4 numbers` copies `announced`; a record from the time between has some of it, or all.
    static let announcements = Migration(
        "7 announcements",
        [
            .unless(
                "customers", has: "announced",
                // What the world was last told of their rights (JSON). From now on `next_end` says when to look at them
                // again: because one ends then, or because something changed and nobody has looked since.
                "ALTER TABLE customers ADD COLUMN announced TEXT"),
            // Nobody wrote to those of before.
            .unless(
                "outbox", has: "data", "DROP TABLE delivery_log; DROP TABLE deliveries; DROP TABLE outbox;"),
            .shared(
                """
                DROP INDEX IF EXISTS identities_by_account_token;
                CREATE INDEX IF NOT EXISTS separations_by_second ON separations (second);
                CREATE INDEX IF NOT EXISTS audit_by_customer ON audit (customer) WHERE customer IS NOT NULL;

                -- What a key asked for under an id of its own making: asked again, it is the same act. `act` spells it.
                CREATE TABLE IF NOT EXISTS requests (
                    actor TEXT NOT NULL,
                    request TEXT NOT NULL,
                    customer TEXT NOT NULL,
                    act TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    PRIMARY KEY (actor, request)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS requests_by_customer ON requests (customer);
                CREATE INDEX IF NOT EXISTS requests_by_time ON requests (at);

                -- Who is told what; `types` with blanks between, or `*`. What the configuration says, kept here so that
                -- every act of every process knows it. Empty: nothing is written below.
                CREATE TABLE IF NOT EXISTS endpoints (
                    name TEXT NOT NULL PRIMARY KEY,
                    types TEXT NOT NULL
                ) STRICT;

                -- What the world is told, written in the transaction in which it became true. `public_id` and
                -- `user_ids` (JSON) are those of that instant; `data` is a JSON object.
                CREATE TABLE IF NOT EXISTS outbox (
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
                CREATE INDEX IF NOT EXISTS outbox_by_customer ON outbox (customer);
                CREATE INDEX IF NOT EXISTS outbox_by_time ON outbox (created_at);
                -- `next_at` is NULL once it was delivered, or given up; `queued_at` is when its days of tries began.
                CREATE TABLE IF NOT EXISTS deliveries (
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
                CREATE INDEX IF NOT EXISTS deliveries_by_time ON deliveries (endpoint, next_at, id) WHERE next_at IS NOT NULL;
                CREATE INDEX IF NOT EXISTS deliveries_by_customer ON deliveries (endpoint, customer, id) WHERE next_at IS NOT NULL;
                CREATE TABLE IF NOT EXISTS delivery_log (
                    id INTEGER PRIMARY KEY,
                    delivery INTEGER NOT NULL REFERENCES deliveries (id),
                    at INTEGER NOT NULL,
                    status INTEGER,
                    detail TEXT
                ) STRICT;
                CREATE INDEX IF NOT EXISTS delivery_log_by_delivery ON delivery_log (delivery);
                """),
        ])
}
