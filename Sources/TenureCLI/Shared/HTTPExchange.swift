import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a request, with JSON if it has a body, and returns the status and the body of the response.
///
/// - Parameters:
///   - token: the token for `Authorization: Bearer …`.
///   - timeout: the timeout in seconds.
/// - Throws: the error of the connection.
func exchange(
    _ method: String, _ url: URL, body: Data? = nil, token: String? = nil, timeout: TimeInterval = 60
) async throws -> (status: Int, body: Data) {
    var request = URLRequest(url: url, timeoutInterval: timeout)
    request.httpMethod = method
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if let body {
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, response) = try await URLSession.shared.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
}
