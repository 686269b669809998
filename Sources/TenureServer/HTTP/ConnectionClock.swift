import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client is too slow: to begin, to send a request, or to take the answer. Tells `Connections`
/// what the connection is doing.
///
/// A request that is answered before it has arrived whole ends its connection: what is left of it is taken, so that
/// the answer can be read, but neither for long nor without end. Waiting between requests is the idle timeout's matter.
final class ConnectionClock: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What a client was too slow at.
    enum Phase: String, Sendable, CaseIterable {
        case head, body, response
    }

    private let timeouts: ServiceConfiguration.Timeouts
    /// Bytes per second.
    private let bodyRate: Int
    private let connections: Connections
    private let closed: @Sendable (Phase) -> Void
    private var connection: Connections.Connection?

    /// For a body: when its rate is measured next. Else the end.
    private var readingUntil: (deadline: NIODeadline, phase: Phase)?
    private var isRequestArriving = false
    private var unreportedBytes = 0
    /// Since when the service reads no further, and when it last went on. That time isn't the client's.
    private var pausedAt: NIODeadline?
    private var resumedAt = NIODeadline.uptimeNanoseconds(0)

    /// When the client last took a part of the answer; nil: nothing is written.
    private var takenAt: NIODeadline?
    private var responseCheck: NIODeadline?
    private var bufferedBytes = 0

    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// Requests that arrived whole, and answers that were begun: clients may send the next request beforehand.
    private var requestsRead = 0
    private var responsesBegun = 0
    private var isLeaving = false
    /// How much of a request is still taken once it is answered.
    private var bytesLeft = 8 * 1024 * 1024

    /// So that the client can read the answer before the connection is reset.
    private static let lingering = TimeAmount.seconds(5)
    private static let longestResponseCheck = TimeAmount.seconds(5)

    init(
        _ timeouts: ServiceConfiguration.Timeouts, bodyRate: Int, connections: Connections,
        closed: @escaping @Sendable (Phase) -> Void
    ) {
        self.timeouts = timeouts
        self.bodyRate = bodyRate
        self.connections = connections
        self.closed = closed
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connection = connections.open(from: NetworkAddress(channel.remoteAddress)) { channel.close(promise: nil) }
        if connections.awaitsRoom() { Self.makeRoom(connections, on: context.eventLoop) }
        readingUntil = (.now() + .seconds(Int64(timeouts.head)), .head)
        arm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isRequestArriving = true
            if !isLeaving {
                readingUntil = (.now() + .seconds(Int64(timeouts.body)), .body)
                arm(context)
            }
        case .body(let bytes):
            unreportedBytes += bytes.readableBytes
            if isLeaving {
                bytesLeft -= bytes.readableBytes
                // Whoever sends that much does not listen.
                if bytesLeft < 0 { return context.close(promise: nil) }
            }
        case .end:
            isRequestArriving = false
            requestsRead += 1
            if !isLeaving { readingUntil = nil }
        }
        context.fireChannelRead(data)
        // The rest came, and the answer had gone before it.
        if isLeaving, requestsRead >= responsesBegun, takenAt == nil { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        report()
        if isRequestArriving { pausedAt = .now() }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if let pausedAt {
            let now = NIODeadline.now()
            if now - pausedAt > .milliseconds(100) { resumedAt = now }
            self.pausedAt = nil
        }
        context.read()
    }

    private func isBodyTooSlow(at now: NIODeadline) -> Bool {
        guard let connection, pausedAt == nil, resumedAt + .seconds(Int64(timeouts.body)) <= now else { return false }
        return connections.received(connection) < bodyRate * timeouts.body
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let now = NIODeadline.now()
        takenAt = now
        responseCheck = now + responseCheckInterval
        arm(context)
        switch unwrapOutboundIn(data) {
        case .head(var head):
            responsesBegun += 1
            if requestsRead < responsesBegun {
                isLeaving = true
                head.headerFields[.connection] = "close"
            }
            report()
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            let (responses, bound) = (responsesBegun, NIOLoopBound((self, context), eventLoop: context.eventLoop))
            written.futureResult.whenComplete { _ in
                let (clock, context) = bound.value
                clock.finish(response: responses, context)
            }
            context.write(data, promise: written)
        }
    }

    private func finish(response: Int, _ context: ChannelHandlerContext) {
        guard response == responsesBegun else { return }
        takenAt = nil
        responseCheck = nil
        report()
        guard isLeaving, context.channel.isActive else { return }
        if requestsRead >= responsesBegun {
            context.close(promise: nil)
        } else {
            readingUntil = (.now() + Self.lingering, .body)
            arm(context)
        }
    }

    private var responseCheckInterval: TimeAmount { min(.seconds(Int64(timeouts.response)), Self.longestResponseCheck) }

    /// Whether the client took a part of the answer lately. A slow download goes on for as long as it likes.
    private func checkResponse(_ context: ChannelHandlerContext) {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? bufferedBytes
        // Where nothing is left to write, the service is the slow one.
        if buffered == 0 || buffered != bufferedBytes { takenAt = .now() }
        bufferedBytes = buffered
        #if os(Linux)
            // The system's buffer may be large: only the system knows what the client takes of it.
            if let provider = context.channel as? any SocketOptionProvider {
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                provider.getTCPInfo().hop(to: context.eventLoop).whenComplete { result in
                    let (clock, context) = bound.value
                    // What is sent again for want of an answer is not taken.
                    if let info = try? result.get(), info.tcpi_retransmits == 0, let takenAt = clock.takenAt {
                        clock.takenAt = max(takenAt, .now() - .milliseconds(Int64(info.tcpi_last_data_sent)))
                    }
                    clock.closeIfStalled(context)
                }
                return
            }
        #endif
        closeIfStalled(context)
    }

    private func closeIfStalled(_ context: ChannelHandlerContext) {
        guard let takenAt, let connection else { return }
        let now = NIODeadline.now()
        let end = takenAt + .seconds(Int64(timeouts.response))
        if end <= now { return close(context, late: .response) }
        connections.progress(connection, at: takenAt.uptimeNanoseconds)
        responseCheck = min(end, now + responseCheckInterval)
        arm(context)
    }

    // MARK: Time

    /// One timer, set anew only when it rings or is too late: most deadlines are met long before.
    private func arm(_ context: ChannelHandlerContext) {
        guard let next = [readingUntil?.deadline, responseCheck].compactMap(\.self).min() else { return }
        if let timer {
            guard next < timer.deadline else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: next) {
            let (clock, context) = bound.value
            clock.ring(context)
        }
        timer = (next, task)
    }

    private func ring(_ context: ChannelHandlerContext) {
        timer = nil
        let now = NIODeadline.now()
        if let readingUntil, readingUntil.deadline <= now {
            guard readingUntil.phase == .body, !isLeaving, !isBodyTooSlow(at: now) else {
                return close(context, late: readingUntil.phase)
            }
            self.readingUntil = (now + .milliseconds(Int64(timeouts.body) * 100), .body)
        }
        if let check = responseCheck, check <= now {
            responseCheck = nil
            checkResponse(context)
        }
        arm(context)
    }

    private func close(_ context: ChannelHandlerContext, late phase: Phase) {
        closed(phase)
        context.close(promise: nil)
    }

    private func end() {
        timer?.task.cancel()
        timer = nil
        readingUntil = nil
        responseCheck = nil
        takenAt = nil
        if let connection { connections.close(connection) }
        connection = nil
    }

    // MARK: Room for others

    private func report() {
        guard let connection else { return }
        let phase: Connections.Phase =
            takenAt != nil
            ? .response : isRequestArriving && !isLeaving ? .request : requestsRead > responsesBegun ? .working : .idle
        connections.enter(phase, connection)
        if unreportedBytes > 0, phase == .request { connections.receive(unreportedBytes, connection) }
        unreportedBytes = 0
    }

    /// Tries each second for as long as no connection can be closed.
    private static func makeRoom(_ connections: Connections, on eventLoop: any EventLoop) {
        eventLoop.scheduleTask(in: .seconds(1)) {
            if connections.retry() { makeRoom(connections, on: eventLoop) }
        }
    }
}
