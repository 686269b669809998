import CommandRunner
import Foundation
import Testing

@Suite(.serialized, .enabled(if: SmallDisk.isAllowed, "this process may not mount file systems"))
struct `a disk that can't be written` {
    @Test(.timeLimit(.minutes(10)))
    func `a service with a full disk refuses writes until space is free, and loses no acknowledged write`()
        async throws
    {
        let disk = try SmallDisk(size: "2m")
        let testBed = try SoakTestBed(database: disk.path + "/tenure.sqlite")
        let (service, port) = try await testBed.start()
        let client = SoakClient(port: port)
        var acknowledged: [SoakOperation] = []
        var refused: [Int] = []
        for number in 0..<3000 where refused.count < 5 {
            let id = "70400000\(4_000_000_000 + number)"
            switch try await client.sync(try testBed.appTransaction(of: id), nil, of: id) {
            case .acknowledged(let operation): acknowledged.append(operation)
            case .refused(let status): refused.append(status)
            }
        }
        #expect(refused == [503, 503, 503, 503, 503])
        #expect(acknowledged.count > 10)
        guard case .sync(let first)? = acknowledged.first else { return }
        let (status, problem) = await client.get("/health/ready", token: "")
        #expect(status == 503 && problem["reason"] as? String == "databaseFull", "\(status) \(problem)")
        #expect(await client.get("/v1/customer", token: first.token).0 == 200, "stored data can still be read")

        #expect(try disk.remount("size=64m"))
        let id = "704000005000000000"
        guard case .acknowledged(let operation) = try await client.sync(try testBed.appTransaction(of: id), nil, of: id)
        else {
            Issue.record("the service accepts no write although space is free again")
            return
        }
        let dump = try await testBed.dump()
        #expect((acknowledged + [operation]).allSatisfy { dump.holds($0) })
        try await testBed.expectHealthy()
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a service on a read-only disk doesn't start, and reports the reason`() async throws {
        let disk = try SmallDisk(size: "8m")
        let testBed = try SoakTestBed(database: disk.path + "/tenure.sqlite")
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(try disk.remount("ro"))
        let second = try testBed.launch()
        #expect(try await second.port() == nil)
        #expect(await second.end(by: SIGTERM) == 1)
        #expect(second.errors.hasPrefix("error: ") && second.errors.contains(disk.path), "\(second.errors)")
        // One line for each problem.
        #expect(second.errors.split(separator: "\n").allSatisfy { $0.contains(disk.path) }, "\(second.errors)")
        let backup = try await testBed.databaseCommand("backup", disk.path + "/copy")
        #expect(backup.status == 1 && backup.errors.contains("read-only"), "\(backup.errors)")
        let read = try await testBed.databaseCommand("dump")
        #expect(read.status == 0 && read.output.contains(#"{"table":"database""#), "stored data can still be read")
    }
}
