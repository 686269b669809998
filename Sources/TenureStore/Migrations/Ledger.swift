import GRDB

extension Migrations {
    /// Instants are milliseconds since 1970. `realm` and `kind` hold the codes of `Realm`, `Identity.Kind` and
    /// `Artifact.Kind`.
    static func createLedger(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE record (
                    id BLOB NOT NULL
                ) STRICT;
                INSERT INTO record (id) VALUES (randomblob(16));

                -- `facts` is what the ledger proves of the customer: derived, and here so that one look-up answers.
                CREATE TABLE customers (
                    id INTEGER PRIMARY KEY,
                    realm INTEGER NOT NULL,
                    public_id TEXT NOT NULL UNIQUE,
                    created_at INTEGER NOT NULL,
                    facts BLOB NOT NULL
                ) STRICT;

                CREATE TABLE identities (
                    realm INTEGER NOT NULL,
                    kind INTEGER NOT NULL,
                    value TEXT NOT NULL,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    PRIMARY KEY (realm, kind, value)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX identities_by_customer ON identities (customer, kind);

                -- Protected headers of JWS with their certificates: 4.5 KB that most artifacts share.
                CREATE TABLE headers (
                    id INTEGER PRIMARY KEY,
                    bytes BLOB NOT NULL UNIQUE
                ) STRICT;

                -- With a header, `bytes` begins at the dot after it.
                CREATE TABLE artifacts (
                    id INTEGER PRIMARY KEY,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    kind INTEGER NOT NULL,
                    sha256 BLOB NOT NULL,
                    header INTEGER REFERENCES headers (id),
                    bytes BLOB NOT NULL,
                    signed_at INTEGER,
                    received_at INTEGER NOT NULL,
                    UNIQUE (customer, sha256)
                ) STRICT;

                CREATE TABLE policies (
                    version INTEGER PRIMARY KEY AUTOINCREMENT,
                    sha256 BLOB NOT NULL UNIQUE,
                    compiled BLOB NOT NULL,
                    recorded_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE promises (
                    id INTEGER PRIMARY KEY,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    entitlement TEXT NOT NULL,
                    app_transaction_id TEXT,
                    download_id TEXT,
                    original_purchase_date REAL,
                    policy INTEGER NOT NULL REFERENCES policies (version),
                    until INTEGER,
                    recorded_at INTEGER NOT NULL
                ) STRICT;
                -- NULLs are distinct in a UNIQUE constraint, and equal here.
                CREATE UNIQUE INDEX promises_once ON promises (
                    customer, entitlement, policy, ifnull(app_transaction_id, ''), ifnull(download_id, ''),
                    ifnull(original_purchase_date, 0), ifnull(until, 0)
                );

                CREATE TABLE support_acts (
                    id INTEGER PRIMARY KEY,
                    customer INTEGER NOT NULL REFERENCES customers (id),
                    entitlement TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    until INTEGER
                ) STRICT;
                CREATE INDEX support_acts_by_customer ON support_acts (customer);
                """)
    }
}
