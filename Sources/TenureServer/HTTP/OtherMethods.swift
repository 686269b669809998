import HTTPTypes
import Hummingbird
import TenureAPI

/// Routers that also respond to HEAD, and to methods that a path doesn't support.
extension Router<ServiceContext> {
    /// A new router without routes. Each GET route that is added also answers HEAD.
    static var empty: Router { Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints) }

    /// Returns a responder for these routes. For other methods of their paths, the responder answers with 405 and the
    /// allowed methods (RFC 9110, section 15.5.6). Hummingbird would answer with 404.
    func responder() -> RouterResponder<ServiceContext> {
        for routes in Dictionary(grouping: routes, by: \.path.description).values {
            guard let path = routes.first?.path else { continue }
            let methods = Set(routes.map(\.method))
            let supported = methods.contains(.get) ? methods.union([.head]) : methods
            for method in HTTPRequest.Method.common.subtracting(supported) {
                on(path, method: method) { _, _ in Response.methodNotAllowed(use: supported) }
            }
        }
        return buildResponder()
    }
}

extension HTTPRequest.Method {
    /// The methods of RFC 9110, section 9, and RFC 5789.
    static let common: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .patch, .options, .connect, .trace,
    ]
    /// The methods that the service's routes have.
    static let ofRoutes: Set<HTTPRequest.Method> = [.get, .head, .post, .delete]
}

extension Response {
    static func methodNotAllowed(use methods: Set<HTTPRequest.Method>) -> Response {
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var response = Response.problem(
            Problem(.methodNotAllowed, "this path doesn't support this method; use \(allowed)"))
        response.headers[.allow] = allowed
        return response
    }
}
