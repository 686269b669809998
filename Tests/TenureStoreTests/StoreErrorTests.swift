import Testing

@testable import TenureStore

@Suite struct `errors of the database` {
    private func expect(
        _ error: StoreError, isRetryable: Bool, _ text: String, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error.description == text, sourceLocation: location)
        #expect(error.isRetryable == isRetryable, sourceLocation: location)
    }

    private func expect(
        _ error: SQLiteFileError, _ text: String, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error.description == text, sourceLocation: location)
    }

    @Test func `an error of the database that may pass can be retried, and its message says what to do`() {
        expect(.busy, isRetryable: true, "the database is busy with other transactions; try again")
        expect(.policyChanged, isRetryable: true, "another policy was published in the meantime; try again")
        expect(.full, isRetryable: true, "the disk of the database is full; free some space on it")
        expect(.readOnly(database: "db", detail: "why"), isRetryable: true, "the database `db` accepts no writes (why)")
        expect(
            .unreachable(database: "db", detail: "why"), isRetryable: true,
            "the database `db` can't be reached (why); check that its server is running, or try again")
    }

    @Test func `an error of the database that won't pass can't be retried, and its message names the problem`() {
        expect(
            .newerDatabase(path: "db"), isRetryable: false,
            "the database `db` was written by a newer release of Tenure; use that release, or another database")
        expect(
            .olderDatabase(database: "db"), isRetryable: false,
            """
            the database `db` was written by an earlier release; start `tenure serve` of this release, which \
            brings it up to date
            """)
        expect(
            .otherApp(database: "db", found: "com.example.a", expected: "com.example.b"), isRetryable: false,
            """
            the database `db` belongs to the app `com.example.a`, not to `com.example.b`; check the path or URL of \
            the database and its `schema`, and which policy is used
            """)
        expect(
            .otherDatabase(database: "db"), isRetryable: false,
            """
            `db` leads to another database than when the service started, or the role has lost `USAGE` on its \
            schema; check the role, and what the URL and its pooler lead to, and restart the service
            """)
        expect(
            .moved(database: "a", to: "b"), isRetryable: false,
            """
            the database `a` was moved to `b`; use the new database. If the move failed, `tenure database reopen` \
            makes the old database usable again
            """)
        expect(
            .unavailable(path: "db", detail: "why"), isRetryable: false,
            "the database `db` can't be opened (why); check that its folder exists and is writable")
        expect(.unusable(database: "db", detail: "why"), isRetryable: false, "the database `db` can't be used: why")
        expect(
            .damaged("why"), isRetryable: false,
            "the database is damaged: why; find what is damaged with `tenure database check`, or restore a backup")
        expect(.failed("why"), isRetryable: false, "the database failed: why")
        expect(.defect("why"), isRetryable: false, "the database failed: why, which is a defect in Tenure; report it")
        expect(
            .replaced("`db` was overwritten"), isRetryable: false,
            "`db` was overwritten while it was open; restart the service as its log says")
        expect(
            .notEmpty(table: "t"), isRetryable: false,
            "the target isn't empty: its table `t` has rows; use an empty database")
        expect(
            .copyDiffers(table: "t", rows: 1, expected: 2), isRetryable: false,
            """
            the copy of `t` differs from the source (1 rows, expected 2), so nothing was moved; check the source \
            with `tenure database check`
            """)
    }

    @Test func `an error of another kind is a failure of the database with that error's text`() {
        struct Oops: Error, CustomStringConvertible { let description = "oops" }
        #expect(StoreError(Oops()) == .failed("oops"))
        #expect(StoreError(StoreError.busy) == .busy)
    }

    @Test func `an error about the file of an SQLite database names the problem and the fix`() {
        expect(.noDatabase(path: "db"), "there is no database at `db`; set --database to your service's database")
        expect(.noBackup(path: "b"), "there is no backup at `b`; name a file that `tenure database backup` made")
        expect(.exists(path: "b"), "`b` exists already; choose another name, or replace it with --force")
        expect(.itself(path: "b"), "`b` is the database itself; choose another file")
        expect(
            .inUse(path: "db"),
            "`db` is open in another process; stop the service and the commands that use it, and try again")
        expect(
            .targetInUse(path: "b"),
            "`b` is a database that another process has open; stop the process, or choose another name")
        expect(
            .log(path: "b"),
            "`b-wal` is the write-ahead log of a missing database; move the log away, or choose another name")
        expect(
            .cannotWrite(path: "b", detail: "why"),
            "`b` can't be written (why); check that the folder exists and that you may write to it")
        expect(
            .notFlushed(path: "b", detail: "why"),
            """
            `b` is complete, but its folder can't be flushed (why), so a loss of power may undo the change; check \
            the disk, and that you may read the folder
            """)
        expect(
            .unusableBackup(path: "b", .failed("why")),
            "the backup `b` can't be restored, and the database stays as it is: the database failed: why")
        expect(
            .store(.full),
            "there is no room on the disk for a second copy of the database; make room, and try again")
        expect(.store(.failed("why")), "the database failed: why")
    }

    @Test func `a finding of a database check names the customer once`() {
        let remedy = "restore the last backup; devices sync newer purchases again"
        #expect(DatabaseFinding("it is broken", .restore).description == "it is broken; \(remedy)")
        #expect(DatabaseFinding("it is broken", of: "cus_a", .restore).description == "cus_a: it is broken; \(remedy)")
        #expect(DatabaseFinding("cus_a is broken", of: "cus_a", .restore).description == "cus_a is broken; \(remedy)")
    }

    @Test func `each finding of a database check says what the operator does about it`() {
        let texts: [(DatabaseFinding.Remedy, String)] = [
            (.reindex, "run `REINDEX INDEX` for it with `psql`"),
            (.rebuild, "run `tenure database rebuild`, which computes the facts again"),
            (.trust, "pass the service's trust anchors with --trust; if you did, restore the last backup"),
            (
                .inspect,
                "look at the rows with `tenure database dump`; if they were never edited by hand, report the problem"
            ),
        ]
        for (remedy, text) in texts {
            #expect(DatabaseFinding("it is broken", remedy).description == "it is broken; \(text)")
        }
    }
}
