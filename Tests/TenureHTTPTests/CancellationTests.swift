import Foundation
import Testing

@testable import TenureHTTP

/// FoundationNetworking can crash or deadlock when a task is canceled while its response arrives. The transport works
/// around that.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    /// Long polls, responses that race with the cancellation, and responses after which URLSession asks its delegate.
    private static let paths = ["/poll", "/soon", "/moved", "/secret"]

    private static let longBody = String(repeating: "0123456789abcdef", count: 6_000)

    private func server() throws -> TestServer {
        try TestServer { path in
            let delay = Double.random(in: 0...0.004)
            return switch path {
            case "/soon": .status("200 OK", body: "{}", delay: delay)
            case "/long": .status("200 OK", body: Self.longBody, delay: delay)
            case "/moved": .status("302 Found", headers: ["Location: /soon"], delay: delay)
            case "/secret":
                .status("401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"a\""], delay: delay)
            default: .never
            }
        }
    }

    private func request(_ server: TestServer, _ path: String) -> TransportRequest {
        var request = TransportRequest(server.url.appendingPathComponent(path), timeout: 60, bodyLimit: 1_000)
        request.post(json: Data("{}".utf8))
        return request
    }

    /// Waits until no task and no socket of the requests is left. Returns the numbers that are left after ten seconds.
    private func leftovers(_ server: TestServer) async throws -> [Int] {
        var counts: [Int] = []
        for _ in 0..<1_000 {
            counts = [
                await URLSessionTransport.shared.openTasks(to: server.url), server.connections, server.clientSockets,
            ]
            if counts == [0, 0, 0] { break }
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        return counts
    }

    /// `make soak` runs it twenty times.
    private static let rounds = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 2 : 20

    @Test func `1,000 canceled requests leave no open task and no open connection`() async throws {
        let server = try server()
        defer { server.stop() }
        for _ in 0..<Self.rounds {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0..<125 {
                            let path = Self.paths[(worker + number) % Self.paths.count]
                            let request = request(server, path)
                            let task = Task { try? await URLSessionTransport.shared.send(request) }
                            if number % 5 != 0 {
                                try? await Task.sleep(nanoseconds: .random(in: 0...6_000_000))
                            }
                            task.cancel()
                            _ = await task.value
                        }
                    }
                }
            }
            #expect(try await leftovers(server) == [0, 0, 0])
        }
    }

    @Test func `1,000 canceled requests with streamed responses leave no open task and no open connection`()
        async throws
    {
        let server = try server()
        defer { server.stop() }
        let paths = Self.paths + ["/long"]
        for _ in 0..<Self.rounds {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0..<125 {
                            var request = request(server, paths[(worker + number) % paths.count])
                            request.bodyLimit = 100_000
                            let task = Task { [request] in
                                var left = number % 7
                                _ = try? await URLSessionTransport.shared.receive(request) { _ in
                                    number % 3 != 0
                                } body: { _ in
                                    left -= 1
                                    if left < 0 { throw CancellationError() }
                                }
                            }
                            if number % 5 != 0 {
                                try? await Task.sleep(nanoseconds: .random(in: 0...6_000_000))
                            }
                            task.cancel()
                            await task.value
                        }
                    }
                }
            }
            #expect(try await leftovers(server) == [0, 0, 0])
        }
    }

    @Test func `a canceled long poll ends at once and closes its connection`() async throws {
        let server = try server()
        defer { server.stop() }
        let request = request(server, "/poll")
        let task = Task {
            do throws(TransportFailure) {
                return try await URLSessionTransport.shared.send(request).status
            } catch {
                #expect(error == .canceled)
                return 0
            }
        }
        while server.connections == 0 { try await Task.sleep(nanoseconds: 1_000_000) }
        task.cancel()
        #expect(await task.value == 0)
        #expect(try await leftovers(server) == [0, 0, 0])
    }

    @Test func `a request of an already canceled task fails and isn't sent`() async throws {
        let server = try server()
        defer { server.stop() }
        let request = request(server, "/soon")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await #expect(throws: TransportFailure.canceled) { try await URLSessionTransport.shared.send(request) }
        }
        task.cancel()
        await task.value
        #expect(try await leftovers(server) == [0, 0, 0])
        #expect(server.heads.isEmpty)
    }
}
