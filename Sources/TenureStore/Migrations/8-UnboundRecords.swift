extension Migration {
    static let unboundRecords = Migration(
        "8 unbound records",
        [
            .shared(
                """
                -- The customers whom the artifacts of an unbound record name: what is known of them limits its answers.
                CREATE TABLE unbound_links (
                    unbound INTEGER NOT NULL REFERENCES customers (id),
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    PRIMARY KEY (unbound, customer)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX unbound_links_by_customer ON unbound_links (customer);
                """)
        ])
}
