import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection with a client that is too slow to begin, to send a request, or to read the response. Reports the
/// state of the connection to `Connections`.
///
/// If a response is sent before its request is complete, the connection is closed afterward. The rest of the request is
/// still read for a short time and up to a limit, so that the client can read the response. The idle timeout covers the
/// time between requests.
///
/// Passes one request at a time to the service. So a client that sends many requests and reads nothing takes the memory
/// of one response. The next request is passed on when the operating system has taken the whole response.
final class ConnectionClock: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeouts: ServiceConfiguration.Timeouts
    /// Bytes per second.
    private let bodyRate: Int
    private let connections: Connections
    private let closed: @Sendable (SlowClientPhase) -> Void
    private var connection: Connections.Connection?

    /// For a body, the next time at which its rate is measured; for a head, its deadline.
    private var readingUntil: (deadline: NIODeadline, phase: SlowClientPhase)?
    private var isRequestArriving = false
    private var unreportedBytes = 0
    /// When the service stopped reading, and when it last started again. The time between doesn't count against the
    /// client.
    private var pausedAt: NIODeadline?
    private var resumedAt = NIODeadline.uptimeNanoseconds(0)

    /// When the client last read a part of the response; nil if no response is being written.
    private var takenAt: NIODeadline?
    private var responseCheck: NIODeadline?
    private var bufferedBytes = 0

    /// The events after a request with a response that isn't written yet.
    private var waiting = CircularBuffer<Waiting>()
    private var waitingBytes = 0
    private var isReadingPaused = false
    private var responsesEnded = 0
    /// How many bytes of response bodies were written, and how many of them the client has read for certain.
    private var (bytesWritten, bytesTaken) = (0, 0)

    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// The numbers of complete requests and of started responses. Clients may send the next request before the
    /// response.
    private var requestsRead = 0
    private var responsesBegun = 0
    private var isLeaving = false
    /// How many bytes of a request are still read after its response.
    private var bytesLeft = 8 * 1024 * 1024

    /// How long the connection stays open after an early response, so that the client can read it.
    private static let lingerTime = TimeAmount.seconds(5)
    private static let maximumResponseCheck = TimeAmount.seconds(5)

    private enum Waiting {
        case part(HTTPRequestPart)
        case error(any Error)
        case inputClosed
    }

    /// The limits of waiting events. No well-behaved client sends as many requests before it reads a response.
    private static let maximumWaiting = (events: 4_000, bytes: 1 << 20)

    init(
        _ timeouts: ServiceConfiguration.Timeouts, bodyRate: Int, connections: Connections,
        closed: @escaping @Sendable (SlowClientPhase) -> Void
    ) {
        self.timeouts = timeouts
        self.bodyRate = bodyRate
        self.connections = connections
        self.closed = closed
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connection = connections.open(from: NetworkAddress(channel.remoteAddress)) { channel.closeTransport() }
        if connections.shouldScheduleRetry() { Self.makeRoom(connections, on: context.eventLoop) }
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
        let part = unwrapInboundIn(data)
        if isAnswering || !waiting.isEmpty { hold(.part(part), context) } else { forward(part, context) }
    }

    private var isAnswering: Bool { requestsRead > responsesEnded }

    private func forward(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
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
                // A client that sends this much isn't reading the response.
                if bytesLeft < 0 { return context.close(promise: nil) }
            }
        case .end:
            isRequestArriving = false
            requestsRead += 1
            if !isLeaving { readingUntil = nil }
        }
        context.fireChannelRead(wrapInboundOut(part))
        // This was the rest of a request that got an early response.
        if isLeaving, requestsRead >= responsesBegun, takenAt == nil { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        report()
        if isRequestArriving { pausedAt = .now() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !waiting.isEmpty, let event = event as? ChannelEvent, event == .inputClosed {
            hold(.inputClosed, context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if waiting.isEmpty { context.fireErrorCaught(error) } else { hold(.error(error), context) }
    }

    private func hold(_ event: Waiting, _ context: ChannelHandlerContext) {
        waiting.append(event)
        if case .part(.body(let bytes)) = event { waitingBytes += bytes.readableBytes }
        if waiting.count > Self.maximumWaiting.events || waitingBytes > Self.maximumWaiting.bytes {
            context.close(promise: nil)
        }
    }

    /// Passes the next request on.
    private func release(_ context: ChannelHandlerContext) {
        guard !waiting.isEmpty else { return }
        while !isAnswering, let event = waiting.popFirst() {
            switch event {
            case .part(let part):
                if case .body(let bytes) = part { waitingBytes -= bytes.readableBytes }
                forward(part, context)
            case .error(let error): context.fireErrorCaught(error)
            case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
        }
        channelReadComplete(context: context)
        if waiting.isEmpty, isReadingPaused {
            isReadingPaused = false
            read(context: context)
        }
    }

    func read(context: ChannelHandlerContext) {
        if !waiting.isEmpty {
            isReadingPaused = true
            return
        }
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

    // MARK: Responses

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
        case .body(let bytes):
            bytesWritten += bytes.readableBytes
            context.write(data, promise: promise)
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
        responsesEnded += 1
        guard response == responsesBegun else { return }
        takenAt = nil
        responseCheck = nil
        reportTaken(bytesWritten)
        if !isLeaving, context.channel.isActive { release(context) }
        report()
        guard isLeaving, context.channel.isActive else { return }
        if requestsRead >= responsesBegun {
            context.close(promise: nil)
        } else {
            readingUntil = (.now() + Self.lingerTime, .body)
            arm(context)
        }
    }

    private var responseCheckInterval: TimeAmount { min(.seconds(Int64(timeouts.response)), Self.maximumResponseCheck) }

    /// Closes the connection if the client has read nothing of the response for too long. A slow download may take any
    /// time.
    private func checkResponse(_ context: ChannelHandlerContext) {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? bufferedBytes
        // If nothing is left to write, the client waits for the service.
        if buffered == 0 || buffered != bufferedBytes { takenAt = .now() }
        bufferedBytes = buffered
        reportTaken(bytesWritten - buffered)
        #if os(Linux)
            // The system's buffer may be large, and only the system knows when the client last read from it.
            if let provider = context.channel as? any SocketOptionProvider {
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                provider.getTCPInfo().hop(to: context.eventLoop).whenComplete { result in
                    let (clock, context) = bound.value
                    // Data that has to be sent again wasn't received.
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

    /// Sets the only timer. It is set again only when it fires or is too late, because most deadlines are met early.
    private func arm(_ context: ChannelHandlerContext) {
        guard let next = [readingUntil?.deadline, responseCheck].compactMap(\.self).min() else { return }
        if let timer {
            guard next < timer.deadline else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: next) {
            let (clock, context) = bound.value
            clock.timerFired(context)
        }
        timer = (next, task)
    }

    private func timerFired(_ context: ChannelHandlerContext) {
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

    private func close(_ context: ChannelHandlerContext, late phase: SlowClientPhase) {
        closed(phase)
        context.close(promise: nil)
    }

    private func end() {
        timer?.task.cancel()
        timer = nil
        readingUntil = nil
        responseCheck = nil
        takenAt = nil
        waiting.removeAll()
        if let connection { connections.close(connection) }
        connection = nil
    }

    // MARK: Room for others

    private func report() {
        guard let connection else { return }
        let phase: ConnectionPhase =
            takenAt != nil
            ? .response : isRequestArriving && !isLeaving ? .request : requestsRead > responsesBegun ? .working : .idle
        connections.enter(phase, connection)
        if unreportedBytes > 0, phase == .request { connections.receive(unreportedBytes, connection) }
        unreportedBytes = 0
    }

    private func reportTaken(_ bytes: Int) {
        guard let connection, bytes > bytesTaken else { return }
        connections.take(bytes - bytesTaken, connection)
        bytesTaken = bytes
    }

    /// Tries again each second until a connection can be closed.
    private static func makeRoom(_ connections: Connections, on eventLoop: any EventLoop) {
        eventLoop.scheduleTask(in: .seconds(1)) {
            if connections.retry() { makeRoom(connections, on: eventLoop) }
        }
    }
}
