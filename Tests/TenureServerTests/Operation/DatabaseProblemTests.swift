import TenureAPI
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the response while the database can't be used` {
    private static let responses: [(error: StoreError, reason: String?, wait: Int, detail: String)] = [
        (
            .replaced("the file"), "databaseReplaced", 60,
            "the database's file was replaced; restart the service as its log says"
        ),
        (
            .moved(database: "d", to: "db2/shop"), "databaseMoved", 60,
            "the database was moved to `db2/shop`; set `database` to that, and restart the service"
        ),
        (
            .otherApp(database: "d", found: "com.example.secret", expected: "e"), "wrongDatabase", 30,
            "the service is connected to the wrong database; its log says how to fix this"
        ),
        (
            .otherDatabase(database: "d"), "wrongDatabase", 30,
            "the service is connected to the wrong database; its log says how to fix this"
        ),
        (
            .newerDatabase(path: "d"), "databaseNewer", 30,
            "a newer release of Tenure migrated the database; update this service"
        ),
        (
            .olderDatabase(database: "d"), "databaseOlder", 30,
            "an earlier release of Tenure wrote the database; restart the service, which migrates it"
        ),
        (
            .unreachable(database: "d", detail: "x"), "databaseUnreachable", 1,
            "the database doesn't answer; try again"
        ),
        (.busy, "databaseBusy", 1, "the database is busy with other transactions; try again"),
        (.full, "databaseFull", 5, "the disk of the database is full; free some space on it"),
        (
            .readOnly(database: "d", detail: "x"), "databaseReadOnly", 5,
            "the database is read-only; the service's log says why"
        ),
        (
            .unusable(database: "d", detail: "x"), "databaseUnusable", 5,
            "the database can't be used; the service's log says why"
        ),
        (.policyChanged, nil, 1, "another policy was just published; try again"),
    ]

    @Test func `a database failure that may pass is status 503 with its reason and the time to wait`() throws {
        for (error, reason, wait, detail) in Self.responses {
            let problem = try #require(Problem(error), "\(error)")
            #expect(problem.code == .busy && problem.code.status == 503)
            #expect(problem.reason == reason && problem.retryAfter == wait && problem.detail == detail, "\(error)")
        }
    }

    @Test func `a database failure that can't pass gets the general response of the service`() {
        for error in [
            StoreError.unavailable(path: "d", detail: "x"), .damaged("x"), .failed("x"), .notEmpty(table: "t"),
            .copyDiffers(table: "t", rows: 1, expected: 2),
        ] {
            #expect(Problem(error) == nil, "\(error)")
        }
    }
}
