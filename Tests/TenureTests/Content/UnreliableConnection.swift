import NIOCore
import NIOPosix
import TenureCore
import TenureHTTP

/// A proxy between clients and a web server that passes 40 MB per second. It injects a test's faults into responses to
/// range requests.
final class UnreliableConnection: Sendable {
    /// What goes wrong with a response to a range request.
    enum Fault: Sendable, Hashable {
        /// Closes the connection after some bytes of the body.
        case cut(after: Int)
        /// Passes some bytes and then nothing, with an open connection.
        case stall(after: Int)
        /// Changes a byte of the body.
        case flip(at: Int)
        case status(Int, retryAfter: Int? = nil)
        /// Asks the server for the whole file.
        case ignoreRange
        case wrongRange
    }

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private struct State: Sendable {
        var faults: [Fault] = []
        var passed = 0
        var flipped = 0
        var free = ContinuousClock.now
    }

    let port: Int
    private let serverPort: Int
    private let state: Locked<State>
    private let task: Locked<Task<Void, Never>?> = Locked(nil)
    private static let bufferSize = 65_536
    private static let nanosecondsPerByte = 25

    init(to serverPort: Int, faults: [Fault] = []) async throws {
        self.serverPort = serverPort
        state = Locked(State(faults: faults))
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: Self.bufferSize)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        port = server.channel.localAddress?.port ?? 0
        let serving = Task<Void, Never> { [weak self] in
            await withDiscardingTaskGroup { group in
                try? await server.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { _ = try? await self?.carry(connection) }
                    }
                }
            }
        }
        task.withLock { $0 = serving }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Bytes of bodies that went to clients.
    var passed: Int { state.withLock { $0.passed } }
    var faultsLeft: Int { state.withLock { $0.faults.count } }
    /// How many bytes were changed.
    var flipped: Int { state.withLock { $0.flipped } }
    func add(_ faults: [Fault]) { state.withLock { $0.faults += faults } }
    func resetCount() { state.withLock { ($0.passed, $0.flipped) = (0, 0) } }

    private func carry(_ client: Connection) async throws {
        try await client.executeThenClose { inbound, outbound in
            var requests = inbound.makeAsyncIterator()
            guard let request = try await Self.head(&requests)?.head else { return }
            let isRange = request.contains { $0.lowercased().hasPrefix("range:") }
            let fault = isRange ? state.withLock { $0.faults.isEmpty ? nil : $0.faults.removeFirst() } : nil
            let flipped = self.flipped
            // If a request ended before the byte, the next one gets the fault at its first byte.
            defer {
                if case .flip? = fault, self.flipped == flipped {
                    state.withLock { $0.faults.insert(.flip(at: 0), at: 0) }
                }
            }
            if case .status(let status, let seconds)? = fault {
                let field = seconds.map { "Retry-After: \($0)\r\n" } ?? ""
                let head = "HTTP/1.1 \(status) No\r\n\(field)Content-Length: 0\r\nConnection: close\r\n\r\n"
                return try await outbound.write(ByteBuffer(string: head))
            }
            let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelOption(.socketOption(.so_rcvbuf), value: Self.bufferSize)
                .connect(host: "127.0.0.1", port: serverPort) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try await server.executeThenClose { answer, ask in
                let sent = fault == .ignoreRange ? request.filter { !$0.lowercased().hasPrefix("range:") } : request
                try await ask.write(ByteBuffer(string: sent.joined(separator: "\r\n") + "\r\n\r\n"))
                var answers = answer.makeAsyncIterator()
                guard let (head, rest) = try await Self.head(&answers) else { return }
                let changed = head.map { fault == .wrongRange ? Self.withWrongRange($0) : $0 }
                try await outbound.write(ByteBuffer(string: changed.joined(separator: "\r\n") + "\r\n\r\n"))
                try await pass(rest, &answers, to: outbound, fault)
            }
            // Until the client gives up.
            if case .stall? = fault { while try await requests.next() != nil {} }
        }
    }

    private func pass(
        _ first: ByteBuffer, _ answers: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        to client: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ fault: Fault?
    ) async throws {
        let limit: Int? =
            switch fault {
            case .cut(let count)?, .stall(let count)?: count
            default: nil
            }
        var offset = 0
        var next: ByteBuffer? = first
        while var piece = next {
            if case .flip(let place)? = fault, (offset..<offset + piece.readableBytes).contains(place) {
                let index = piece.readerIndex + place - offset
                piece.setInteger((piece.getInteger(at: index) ?? 0) ^ UInt8(1), at: index)
                state.withLock { $0.flipped += 1 }
            }
            let count = min(piece.readableBytes, (limit ?? .max) - offset)
            if count > 0, let part = piece.readSlice(length: count) {
                try await client.write(part)
                offset += count
                try await waitForTurn(of: count)
            }
            if let limit, offset >= limit { return }
            next = try await answers.next()
        }
    }

    /// Counts bytes, and waits as long as the line needs for them.
    private func waitForTurn(of count: Int) async throws {
        let free = state.withLock { state in
            state.passed += count
            state.free = max(state.free, .now) + .nanoseconds(count * Self.nanosecondsPerByte)
            return state.free
        }
        try await Task.sleep(until: free, clock: .continuous)
    }

    /// Reads lines to the empty one, and returns what has come after it.
    private static func head(
        _ parts: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    ) async throws -> (head: [String], rest: ByteBuffer)? {
        var received = ByteBuffer()
        while var part = try await parts.next() {
            received.writeBuffer(&part)
            let bytes = received.readableBytesView
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            received.moveReaderIndex(to: end.upperBound)
            return (text.split(separator: "\r\n").map(String.init), received)
        }
        return nil
    }

    /// The range that was asked for, one byte later.
    private static func withWrongRange(_ line: String) -> String {
        guard line.lowercased().hasPrefix("content-range: bytes "), let slash = line.lastIndex(of: "/") else {
            return line
        }
        let bounds = line[..<slash].dropFirst(21).split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2 else { return line }
        return "Content-Range: bytes \(bounds[0] + 1)-\(bounds[1] + 1)\(line[slash...])"
    }
}
