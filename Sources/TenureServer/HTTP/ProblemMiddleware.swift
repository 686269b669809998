import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import TenureAPI
import TenureStore

/// Turns every error into a problem, and logs it. Logs hold no artifact, token or id from a client.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// The message for a path without a route.
    var nothingHere = "nothing is at this path"

    func handle(
        _ request: Request, context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = Problem(error, nothingHere: nothingHere)
            let level: Logger.Level = problem.code.status >= 500 ? .error : .debug
            context.logger.log(
                level: level, "request refused",
                metadata: [
                    "method": "\(request.method.rawValue)", "path": "\(context.endpointPath ?? "-")",
                    "status": "\(problem.code.status)", "code": "\(problem.code.rawValue)",
                    // Only what the service itself says: a problem of the client's may repeat what came in.
                    "detail": "\(problem.code.status >= 500 ? Self.cause(of: error) : problem.code.title)",
                ])
            return Response.problem(problem)
        }
    }

    private static func cause(of error: any Error) -> String {
        switch error {
        case let error as StoreError: error.description
        case let error as Problem: error.detail
        default: "\(type(of: error))"
        }
    }
}

extension Problem {
    fileprivate init(_ error: any Error, nothingHere: String) {
        if let error = error as? StoreError, let problem = Problem(unusable: error) {
            self = problem
            return
        }
        switch error {
        case let problem as Problem: self = problem
        case let error as StoreError where error.isRetryable:
            self.init(.busy, "the record cannot be written just now; try again", retryAfter: 1)
        // The connection ended first, or the service's time to finish was over; hardly anybody reads this.
        case is HTTPParserError, is ChannelError, is IOError, is CancellationError:
            self.init(.malformedRequest, "the request did not arrive whole")
        case let error as any HTTPResponseError:
            switch error.status {
            case .notFound: self.init(.notFound, nothingHere)
            case .methodNotAllowed: self.init(.methodNotAllowed, "this path does not take this method")
            case .contentTooLarge: self.init(.tooLarge, "the body is too large")
            case let status where status.kind == .clientError:
                self.init(.malformedRequest, "the request cannot be read")
            default: self.init(.internalError, "the service failed; the request's id is in its log")
            }
        default: self.init(.internalError, "the service failed; the request's id is in its log")
        }
    }
}
