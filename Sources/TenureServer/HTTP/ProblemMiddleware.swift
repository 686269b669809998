import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import TenureAPI
import TenureStore

/// Turns every error into a response with a problem (RFC 9457), and logs it. Logs contain no artifact, token or ID from
/// a client.
struct ProblemMiddleware: ServiceMiddleware {
    /// The message for a path without a route.
    var notFoundMessage = "there is nothing at this path; check the path"

    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = Problem(error, notFoundMessage: notFoundMessage)
            let level: Logger.Level = problem.code.status >= 500 ? .error : .debug
            context.logger.log(
                level: level, "request refused",
                metadata: [
                    "method": "\(request.method.rawValue)", "path": "\(context.endpointPath ?? "-")",
                    "status": "\(problem.code.status)", "code": "\(problem.code.rawValue)",
                    // The detail of a client's problem may repeat what the client sent, so only its title is logged.
                    "detail": "\(problem.code.status >= 500 ? Self.cause(of: error) : problem.code.title)",
                ])
            return Response.problem(problem)
        }
    }

    /// The description of a failure for the log. An unknown error is described by its type only, because its text may
    /// repeat what a client sent.
    private static func cause(of error: any Error) -> String {
        switch error {
        case let error as StoreError: error.description
        case let error as Problem: error.detail
        default: "\(type(of: error))"
        }
    }
}

extension Problem {
    /// Creates the problem of any error that a route or Hummingbird threw.
    fileprivate init(_ error: any Error, notFoundMessage: String) {
        if let error = error as? StoreError, let problem = Problem(error) {
            self = problem
            return
        }
        switch error {
        case let problem as Problem: self = problem
        // The connection was closed, or the shutdown timeout is over. Usually, no client receives this response.
        case is HTTPParserError, is ChannelError, is IOError, is CancellationError:
            self.init(.malformedRequest, "the request is incomplete; send it again")
        default:
            switch (error as? any HTTPResponseError)?.status {
            case .notFound?: self.init(.notFound, notFoundMessage)
            case .methodNotAllowed?: self.init(.methodNotAllowed, "this path doesn't support this method")
            case .contentTooLarge?: self.init(.tooLarge, "the body is too large")
            case let status? where status.kind == .clientError:
                self.init(.malformedRequest, "the request isn't valid HTTP")
            default:
                self.init(.internalError, "the service failed; search its log for the ID in the header `X-Request-Id`")
            }
        }
    }
}

extension Problem {
    /// Creates the response if the database can't be used now, or if an operator must fix something before the service
    /// may use it. Nil for other errors, which get status 500.
    ///
    /// If the database belongs to another app, only the log says to which one.
    init?(_ error: StoreError) {
        let answer: (detail: String, reason: String?, retryAfter: Int)? =
            switch error {
            case .replaced:
                ("the database's file was replaced; restart the service as its log says", "databaseReplaced", 60)
            case .moved(_, let newDatabase):
                (
                    "the database was moved to `\(newDatabase)`; set `database` to that, and restart the service",
                    "databaseMoved", 60
                )
            case .otherApp, .otherDatabase:
                ("the service is connected to the wrong database; its log says how to fix this", "wrongDatabase", 30)
            case .newerDatabase:
                ("a newer release of Tenure migrated the database; update this service", "databaseNewer", 30)
            case .olderDatabase:
                (
                    "an earlier release of Tenure wrote the database; restart the service, which migrates it",
                    "databaseOlder", 30
                )
            case .unreachable: ("the database doesn't answer; try again", "databaseUnreachable", 1)
            case .busy: ("the database is busy with other transactions; try again", "databaseBusy", 1)
            case .full: ("the disk of the database is full; free some space on it", "databaseFull", 5)
            case .readOnly: ("the database is read-only; the service's log says why", "databaseReadOnly", 5)
            case .unusable: ("the database can't be used; the service's log says why", "databaseUnusable", 5)
            case .policyChanged: ("another policy was just published; try again", nil, 1)
            case .unavailable, .damaged, .failed, .notEmpty, .copyDiffers: nil
            }
        guard let answer else { return nil }
        self.init(.busy, answer.detail, reason: answer.reason, retryAfter: answer.retryAfter)
    }
}
