import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client is too slow: to begin, to send a request whole, or to take the answer.
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
    private let closed: @Sendable (Phase) -> Void
    private var readingUntil: (deadline: NIODeadline, phase: Phase)?
    private var writingUntil: NIODeadline?
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// Requests that arrived whole, and answers that were begun: clients may send the next request beforehand.
    private var requestsRead = 0
    private var responsesBegun = 0
    private var isLeaving = false
    /// How much of a request is still taken once it is answered.
    private var bytesLeft = 8 * 1024 * 1024

    /// So that the client can read the answer before the connection is reset.
    private static let lingering = TimeAmount.seconds(5)

    init(_ timeouts: ServiceConfiguration.Timeouts, closed: @escaping @Sendable (Phase) -> Void) {
        self.timeouts = timeouts
        self.closed = closed
    }

    func handlerAdded(context: ChannelHandlerContext) {
        readingUntil = (.now() + .seconds(Int64(timeouts.head)), .head)
        arm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        readingUntil = nil
        writingUntil = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            if !isLeaving {
                readingUntil = (.now() + .seconds(Int64(timeouts.body)), .body)
                arm(context)
            }
        case .body(let bytes):
            if isLeaving {
                bytesLeft -= bytes.readableBytes
                // Whoever sends that much does not listen.
                if bytesLeft < 0 { return context.close(promise: nil) }
            }
        case .end:
            requestsRead += 1
            if !isLeaving { readingUntil = nil }
        }
        context.fireChannelRead(data)
        // The rest came, and the answer had gone before it.
        if isLeaving, requestsRead >= responsesBegun, writingUntil == nil { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writingUntil = .now() + .seconds(Int64(timeouts.response))
        arm(context)
        switch unwrapOutboundIn(data) {
        case .head(var head):
            responsesBegun += 1
            if requestsRead < responsesBegun {
                isLeaving = true
                head.headerFields[.connection] = "close"
            }
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
        writingUntil = nil
        guard isLeaving, context.channel.isActive else { return }
        if requestsRead >= responsesBegun {
            context.close(promise: nil)
        } else {
            readingUntil = (.now() + Self.lingering, .body)
            arm(context)
        }
    }

    /// One timer, set anew only when it rings or is too late: most deadlines are met long before.
    private func arm(_ context: ChannelHandlerContext) {
        guard let next = [readingUntil?.deadline, writingUntil].compactMap(\.self).min() else { return }
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
        let late: Phase? =
            if let readingUntil, readingUntil.deadline <= now {
                readingUntil.phase
            } else if let writingUntil, writingUntil <= now { .response } else { nil }
        guard let late else { return arm(context) }
        closed(late)
        context.close(promise: nil)
    }
}
