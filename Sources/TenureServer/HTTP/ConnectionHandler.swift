import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The channel handler that enforces the timeouts of one connection. The handler has three tasks.
///
/// **Slow clients.** The handler closes the connection if the client is too slow to begin, to send a request's body, or
/// to read the response. The server's idle timeout covers the time between requests. The handler also tells
/// `Connections`, which closes connections to make room for new connections, what this connection is doing.
///
/// **Early responses.** If a response is sent before its request is complete, the connection is closed afterward. The
/// rest of the request is still read for a short time and up to a limit, so that the client can read the response.
///
/// **Pipelining.** The handler passes one request at a time to the service, so a client that sends many requests and
/// reads nothing takes the memory of one response only. The next request is passed on in one of the `PipeliningTurns`,
/// after the operating system has taken the whole response to the request before.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeouts: ServiceConfiguration.Timeouts
    /// The minimum rate of a request's body, in bytes per second.
    private let bodyRate: Int
    private let connections: Connections
    /// Called before a connection with a slow client is closed.
    private let onClose: @Sendable (SlowClientPhase) -> Void
    /// This connection's entry in `connections`, while the connection is open.
    private var connection: Connections.Connection?

    /// The deadline for what the client sends: the head of the first request, or a body. A body's rate is measured at
    /// its deadline, and a body that is fast enough gets another deadline. After an early response, the connection is
    /// closed at the deadline.
    private var readingUntil: (deadline: NIODeadline, phase: SlowClientPhase)?
    /// Whether a request's head has arrived, and its end hasn't.
    private var isRequestArriving = false
    /// Whether the client waits for status 100 before it sends the body.
    var awaitsContinue = false
    /// The body bytes that aren't reported to `connections` yet.
    private var unreportedBytes = 0
    /// The times at which the service stopped reading, and at which it last started again. The time between doesn't
    /// count against the client.
    private var pausedAt: NIODeadline?
    var resumedAt = NIODeadline.uptimeNanoseconds(0)

    /// The time at which the client last read a part of the response, or the service last wrote a part. Nil if no
    /// response is being written.
    private var clientReadAt: NIODeadline?
    /// The time at which to check again whether the client reads the response; nil if no check is needed.
    private var nextResponseCheck: NIODeadline?
    /// The bytes that waited for the operating system at the last check.
    private var bufferedBytes = 0

    /// The events that arrived after a complete request, and wait for its response or for a turn.
    private var waiting = PipelinedRequests()
    /// The number of the turn in which the current request was passed on. Nil if the request didn't have to wait for a
    /// turn, or its response was sent.
    private var turn: Int?
    /// Whether NIO wanted to read more while events were waiting. The read follows when no events are waiting.
    private var isReadingPaused = false
    /// The bytes of response bodies that were written, and how many of them the operating system has taken at least.
    private var (bytesWritten, bytesSent) = (0, 0)

    /// The only timer, for the earlier of `readingUntil` and `nextResponseCheck`.
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// The numbers of complete requests, of started responses, and of responses that the operating system has taken.
    /// They differ while the service works on a response or sends it, and if a response begins before its request is
    /// complete. A request in `waiting` isn't counted yet.
    private var requestsRead = 0
    private var responsesBegun = 0
    private var responsesEnded = 0
    /// Whether the connection is closed after this response, because the response began before its request was
    /// complete.
    private var closesAfterResponse = false
    /// How many more bytes of the request are read after an early response.
    private var remainingLateBytes = 8 * 1024 * 1024

    /// How long the connection stays open after an early response, so that the client can read it.
    private static let lingerTime = TimeAmount.seconds(5)
    /// The longest time between two checks whether the client reads the response.
    private static let maximumResponseCheck = TimeAmount.seconds(5)

    init(
        _ timeouts: ServiceConfiguration.Timeouts, bodyRate: Int, connections: Connections,
        onClose: @escaping @Sendable (SlowClientPhase) -> Void
    ) {
        self.timeouts = timeouts
        self.bodyRate = bodyRate
        self.connections = connections
        self.onClose = onClose
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connection = connections.open(from: NetworkAddress(channel.remoteAddress)) { channel.closeTransport() }
        connections.scheduleRetries(on: context.eventLoop)
        readingUntil = (.now() + .seconds(Int64(timeouts.head)), .head)
        setTimer(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { forget(context) }

    func channelInactive(context: ChannelHandlerContext) {
        forget(context)
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isAnswering || !waiting.isEmpty { storeUntilResponse(.part(part), context) } else { passOn(part, context) }
    }

    /// Whether the response to a complete request isn't sent yet.
    private var isAnswering: Bool { requestsRead > responsesEnded }

    /// Passes a part of a request on to the service, and sets the deadline for what must follow.
    private func passOn(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request):
            isRequestArriving = true
            if !closesAfterResponse {
                readingUntil = (.now() + .seconds(Int64(timeouts.body)), .body)
                setTimer(context)
                awaitsContinue = request.headerFields[.expect]?.lowercased() == "100-continue"
            }
        case .body(let bytes):
            unreportedBytes += bytes.readableBytes
            if closesAfterResponse {
                remainingLateBytes -= bytes.readableBytes
                // A client that sends this much isn't reading the response.
                if remainingLateBytes < 0 { return context.close(promise: nil) }
            }
        case .end:
            isRequestArriving = false
            requestsRead += 1
            if !closesAfterResponse { readingUntil = nil }
        }
        context.fireChannelRead(wrapInboundOut(part))
        // After the end of a request that got an early response, the connection isn't needed anymore.
        if closesAfterResponse, requestsRead >= responsesBegun, clientReadAt == nil { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        reportPhase()
        // The service isn't reading until NIO calls `read` again.
        if isRequestArriving { pausedAt = .now() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !waiting.isEmpty, let event = event as? ChannelEvent, event == .inputClosed {
            storeUntilResponse(.inputClosed, context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if waiting.isEmpty { context.fireErrorCaught(error) } else { storeUntilResponse(.error(error), context) }
    }

    /// Stores an event until it is passed on in a turn. Closes the connection if too much is waiting.
    private func storeUntilResponse(_ event: PipelinedRequests.Event, _ context: ChannelHandlerContext) {
        waiting.append(event)
        if waiting.isOverLimit { context.close(promise: nil) }
    }

    /// Waits until it's this connection's turn (see `PipeliningTurns`), and passes the next request on.
    private func waitForTurn(_ context: ChannelHandlerContext) {
        let turns = PipeliningTurns.of(context.eventLoop)
        turns.wait { [self] turn in
            guard connection != nil else { return turns.finish(turn) }
            self.turn = turn
            passOnNextRequest(context)
            // The next request isn't complete, so other connections don't wait for its response.
            if !isAnswering { finishTurn(context) }
        }
    }

    /// Ends this connection's part in the current turn, so that the next turn can begin.
    private func finishTurn(_ context: ChannelHandlerContext) {
        guard let turn else { return }
        self.turn = nil
        PipeliningTurns.of(context.eventLoop).finish(turn)
    }

    /// Passes waiting events on, up to the end of the next request.
    private func passOnNextRequest(_ context: ChannelHandlerContext) {
        while !isAnswering, let event = waiting.popFirst() {
            switch event {
            case .part(let part): passOn(part, context)
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

    /// Called before NIO reads more of the request from the socket. While events are waiting, nothing more is read.
    func read(context: ChannelHandlerContext) {
        if !waiting.isEmpty {
            isReadingPaused = true
            return
        }
        if let pausedAt {
            // Pauses up to 100 ms are normal between two reads, so they are part of the client's time.
            let now = NIODeadline.now()
            if now - pausedAt > .milliseconds(100) { resumedAt = now }
            self.pausedAt = nil
        }
        context.read()
    }

    /// Whether the body arrived below the minimum rate. The rate is measured only over a whole window without a pause.
    private func isBodyTooSlow(at now: NIODeadline) -> Bool {
        guard let connection, pausedAt == nil, resumedAt + .seconds(Int64(timeouts.body)) <= now else { return false }
        return connections.recentlyReceived(connection) < bodyRate * timeouts.body
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let now = NIODeadline.now()
        clientReadAt = now
        nextResponseCheck = now + responseCheckInterval
        setTimer(context)
        switch unwrapOutboundIn(data) {
        case .head(var head):
            awaitsContinue = false
            responsesBegun += 1
            // The request isn't complete, so this is an early response.
            if requestsRead < responsesBegun {
                closesAfterResponse = true
                head.headerFields[.connection] = "close"
            }
            reportPhase()
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            bytesWritten += bytes.readableBytes
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            let (response, bound) = (responsesBegun, NIOLoopBound((self, context), eventLoop: context.eventLoop))
            written.futureResult.whenComplete { _ in
                let (handler, context) = bound.value
                handler.finish(response: response, context)
            }
            context.write(data, promise: written)
        }
    }

    /// Called when the operating system has taken the whole response with this number, or writing it failed.
    private func finish(response: Int, _ context: ChannelHandlerContext) {
        responsesEnded += 1
        // If a later response has begun, the client still has to read that response.
        guard response == responsesBegun else { return }
        clientReadAt = nil
        nextResponseCheck = nil
        reportSent(bytesWritten)
        finishTurn(context)
        if !closesAfterResponse, context.channel.isActive, !waiting.isEmpty { waitForTurn(context) }
        reportPhase()
        guard closesAfterResponse, context.channel.isActive else { return }
        if requestsRead >= responsesBegun {
            context.close(promise: nil)
        } else {
            readingUntil = (.now() + Self.lingerTime, .body)
            setTimer(context)
        }
    }

    private var responseCheckInterval: TimeAmount { min(.seconds(Int64(timeouts.response)), Self.maximumResponseCheck) }

    /// Measures whether the client reads the response, and closes the connection if it has read nothing for too long.
    /// There is no limit for the whole response, so a slow download may take any time.
    private func checkResponse(_ context: ChannelHandlerContext) {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? bufferedBytes
        // If no bytes wait to be sent, the client isn't slow: it waits for the service.
        if buffered == 0 || buffered != bufferedBytes { clientReadAt = .now() }
        bufferedBytes = buffered
        // The buffer also contains headers, so this number may be less than what the system has taken.
        reportSent(bytesWritten - buffered)
        #if os(Linux)
            // The system's buffer may be large, and only the system knows when the client last read from it.
            if let provider = context.channel as? any SocketOptionProvider {
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                provider.getTCPInfo().hop(to: context.eventLoop).whenComplete { result in
                    let (handler, context) = bound.value
                    // Data that has to be sent again wasn't received.
                    if let info = try? result.get(), info.tcpi_retransmits == 0, let readAt = handler.clientReadAt {
                        handler.clientReadAt = max(readAt, .now() - .milliseconds(Int64(info.tcpi_last_data_sent)))
                    }
                    handler.closeIfStalled(context)
                }
                return
            }
        #endif
        closeIfStalled(context)
    }

    /// Closes the connection if the response timeout has passed since the client last read. Otherwise plans the next
    /// check.
    private func closeIfStalled(_ context: ChannelHandlerContext) {
        guard let clientReadAt, let connection else { return }
        let now = NIODeadline.now()
        let end = clientReadAt + .seconds(Int64(timeouts.response))
        if end <= now { return close(context, late: .response) }
        connections.storeRead(connection, at: clientReadAt.uptimeNanoseconds)
        nextResponseCheck = min(end, now + responseCheckInterval)
        setTimer(context)
    }

    // MARK: Time

    /// Sets the timer for the next deadline. A timer that fires too early is kept, because most deadlines are met and
    /// setting a timer again for each would be slow.
    private func setTimer(_ context: ChannelHandlerContext) {
        var next = readingUntil?.deadline
        if let check = nextResponseCheck { next = next.map { min($0, check) } ?? check }
        guard let next else { return }
        if let timer {
            guard next < timer.deadline else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: next) {
            let (handler, context) = bound.value
            handler.timerFired(context)
        }
        timer = (next, task)
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        timer = nil
        let now = NIODeadline.now()
        if let readingUntil, readingUntil.deadline <= now {
            // Only a body that arrives fast enough gets more time: a tenth of the window, until the next measurement. A
            // client that waits for status 100 isn't slow.
            guard readingUntil.phase == .body, !closesAfterResponse, awaitsContinue || !isBodyTooSlow(at: now) else {
                return close(context, late: readingUntil.phase)
            }
            self.readingUntil = (now + .milliseconds(Int64(timeouts.body) * 100), .body)
        }
        if let check = nextResponseCheck, check <= now {
            nextResponseCheck = nil
            checkResponse(context)
        }
        setTimer(context)
    }

    /// Closes the connection because the client was too slow in this phase.
    private func close(_ context: ChannelHandlerContext, late phase: SlowClientPhase) {
        onClose(phase)
        context.close(promise: nil)
    }

    /// Stops the timer and forgets the connection, which is closed.
    private func forget(_ context: ChannelHandlerContext) {
        finishTurn(context)
        timer?.task.cancel()
        timer = nil
        readingUntil = nil
        nextResponseCheck = nil
        clientReadAt = nil
        waiting.removeAll()
        if let connection { connections.close(connection) }
        connection = nil
    }

    // MARK: Reports to `Connections`, which closes connections to make room for new ones

    /// Reports what the connection is used for now, and the bytes of the request's body since the last report.
    private func reportPhase() {
        guard let connection else { return }
        let phase = phase
        connections.enter(phase, connection)
        if unreportedBytes > 0, phase == .request { connections.countReceived(unreportedBytes, connection) }
        unreportedBytes = 0
    }

    /// What the connection is used for now.
    private var phase: ConnectionPhase {
        if clientReadAt != nil { return .response }
        if isRequestArriving, !closesAfterResponse { return .request }
        return requestsRead > responsesBegun || !waiting.isEmpty ? .working : .idle
    }

    /// - Parameter bytes: The bytes of all responses that the operating system has taken so far.
    private func reportSent(_ bytes: Int) {
        guard let connection, bytes > bytesSent else { return }
        connections.countSent(bytes - bytesSent, connection)
        bytesSent = bytes
    }
}
