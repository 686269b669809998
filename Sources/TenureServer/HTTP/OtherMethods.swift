import HTTPTypes
import Hummingbird
import TenureAPI

extension Router<ServiceContext> {
    /// Without routes; each GET that it gets answers HEAD too.
    static var empty: Router { Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints) }

    /// What answers by these routes; a method that a path does not take is refused with those that it takes (RFC 9110,
    /// section 15.5.6). Hummingbird would say that nothing is there.
    func responder() -> RouterResponder<ServiceContext> {
        for routes in Dictionary(grouping: routes, by: \.path.description).values {
            guard let path = routes.first?.path else { continue }
            let methods = Set(routes.map(\.method))
            let taken = methods.contains(.get) ? methods.union([.head]) : methods
            let allowed = taken.map(\.rawValue).sorted().joined(separator: ", ")
            for method in HTTPRequest.Method.common.subtracting(taken) {
                on(path, method: method) { _, _ in
                    var response = Response.problem(
                        Problem(.methodNotAllowed, "this path does not take this method; it takes \(allowed)"))
                    response.headers[.allow] = allowed
                    return response
                }
            }
        }
        return buildResponder()
    }
}

extension HTTPRequest.Method {
    /// RFC 9110, section 9, and RFC 5789.
    static let common: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .patch, .options, .connect, .trace,
    ]
}
