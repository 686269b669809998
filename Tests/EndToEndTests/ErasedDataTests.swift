import CommandRunner
import Foundation
import PostgresServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is left of an erased customer, in answers and files.
@Suite struct `erased data` {
    /// Syncs customers, and returns their public IDs.
    private func customers(_ count: Int, _ testBed: SoakTestBed, at port: Int) async throws -> [String] {
        var ids: [String] = []
        for number in 1...count {
            let (status, json) = await SoakClient(port: port).post(
                "/v1/sync", SoakClient.body(try testBed.appTransaction(of: Self.account(number)), []))
            #expect(status == 200, "\(json)")
            ids.append(try #require(json["id"] as? String))
        }
        return ids
    }

    private static func account(_ number: Int) -> String { "70400000\(7_000_000_000 + number)" }

    private func erase(
        _ id: String, at port: Int, request key: String?
    ) async throws -> (status: Int?, body: String, json: [String: Any]) {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/v1/admin/customers/\(id)"))
        var request = URLRequest(url: url)
        request.httpMethod = "DELETE"
        request.setValue("Bearer \(SoakTestBed.adminKey)", forHTTPHeaderField: "Authorization")
        if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        return ((response as? HTTPURLResponse)?.statusCode, String(decoding: data, as: UTF8.self), json ?? [:])
    }

    @Test(arguments: [false, true])
    func `a repeated erasure gets the same response, and only the audit trail keeps the customer's ID`(
        onServer isOnServer: Bool
    ) async throws {
        let database =
            isOnServer
            ? try PostgresServer.shared().url("schema=erased_\(UInt32.random(in: .min ... .max))") : nil
        let testBed = try SoakTestBed(database: database)
        let (service, port) = try await testBed.start()
        let ids = try await customers(2, testBed, at: port)
        let first = try await erase(ids[0], at: port, request: "once")
        #expect(first.status == 200 && first.json["erased"] as? String == ids[0], "\(first.body)")
        #expect((first.json["removed"] as? [String: Int])?["customers"] == 1, "\(first.body)")
        #expect(try await erase(ids[0], at: port, request: "once").body == first.body)
        #expect(try await erase(ids[0], at: port, request: "twice").status == 404)
        #expect(try await erase(ids[0], at: port, request: nil).status == 404)
        let reused = try await erase(ids[1], at: port, request: "once")
        #expect(reused.status == 409 && reused.json["reason"] as? String == "requestReused", "\(reused.body)")

        // Only the audit trail still contains the IDs.
        let dump = try await testBed.databaseCommand("dump").output
        let lines = dump.split(separator: "\n").filter { $0.contains(ids[0]) }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.contains("\"audit\"") }, "\(lines)")
        #expect(dump.contains("\"once\""))
        // The same is true after a restart.
        #expect(await service.end(by: SIGTERM) == 0)
        let (again, otherPort) = try await testBed.start()
        #expect(try await erase(ids[0], at: otherPort, request: "once").body == first.body)
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `erased data is gone from the database's files within a minute, even if the service is killed`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let id = try await customers(1, testBed, at: port)[0]
        // The test searches the files for the payload of the artifact, in its stored form.
        let account = Self.account(1)
        let files = ["tenure.sqlite", "tenure.sqlite-wal"]
        func holding() throws -> [String] {
            try files.filter { try Data(contentsOf: testBed.folder.url($0)).range(of: Data(account.utf8)) != nil }
        }
        #expect(try holding().isEmpty == false)
        #expect(try await erase(id, at: port, request: nil).status == 200)
        let began = ContinuousClock.now
        while try !holding().isEmpty, .now - began < .seconds(60) { try await Task.sleep(for: .milliseconds(500)) }
        #expect(try holding() == [])

        let other = try await customers(2, testBed, at: port)[1]
        #expect(try await erase(other, at: port, request: nil).status == 200)
        _ = await service.end(by: SIGKILL)
        let (again, _) = try await testBed.start()
        let restarted = ContinuousClock.now
        func isHeld() throws -> Bool {
            try files.contains {
                try Data(contentsOf: testBed.folder.url($0)).range(of: Data(Self.account(2).utf8)) != nil
            }
        }
        while try isHeld(), .now - restarted < .seconds(60) { try await Task.sleep(for: .milliseconds(500)) }
        #expect(try !isHeld())
        #expect(await again.end(by: SIGTERM) == 0)
        try await testBed.expectHealthy()
    }

    @Test func `tenure database vacuum makes the file smaller after an erasure, while the service is stopped`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let ids = try await customers(60, testBed, at: port)
        for id in ids.dropLast() { #expect(try await erase(id, at: port, request: nil).status == 200) }
        let refused = try await testBed.databaseCommand("vacuum")
        #expect(refused.status == 1 && refused.errors.contains("is open in another process"), "\(refused)")
        #expect(await service.end(by: SIGTERM) == 0)
        func size() throws -> Int { try Data(contentsOf: testBed.folder.url("tenure.sqlite")).count }
        let before = try size()
        let done = try await testBed.databaseCommand("vacuum")
        #expect(done.status == 0 && done.output.contains("has "), "\(done)")
        #expect(try size() < before)
        let (again, _) = try await testBed.start()
        #expect(await again.end(by: SIGTERM) == 0)
        try await testBed.expectHealthy()
        #expect(try await testBed.databaseCommand("dump").output.contains(try #require(ids.last)))

        let missing = testBed.folder.url("none.sqlite").path
        let none = try await Command.run("database", "vacuum", "--database", missing)
        #expect(none.status == 1 && !FileManager.default.fileExists(atPath: missing), "\(none.errors)")
        let server = try await Command.run(
            "database", "vacuum", "--database", try PostgresServer.shared().url("schema=none"))
        #expect(server.status == 1 && server.errors.contains("autovacuum"), "\(server.errors)")
    }
}
