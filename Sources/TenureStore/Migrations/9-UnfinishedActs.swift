extension Migration {
    static let unfinishedActs = Migration(
        "9 unfinished acts",
        [
            .shared(
                """
                -- The large act that wrote an artifact in one of its pieces; NULL where it came in one transaction.
                ALTER TABLE artifacts ADD COLUMN act INTEGER;
                CREATE INDEX artifacts_by_act ON artifacts (act) WHERE act IS NOT NULL;

                -- Large acts whose last piece isn't written: their artifacts don't count yet. `act` is a random number;
                -- `started_at` is 0 once another act took some of its artifacts, or they are to be removed.
                CREATE TABLE unfinished_acts (
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    act INTEGER NOT NULL,
                    started_at INTEGER NOT NULL,
                    PRIMARY KEY (customer, act)
                ) STRICT, WITHOUT ROWID;
                """)
        ])
}
