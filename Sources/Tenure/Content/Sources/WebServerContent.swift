import Foundation
import TenureContent
import TenureHTTP

/// A folder on a web server that `tenure content publish` wrote. It has no access control.
struct WebServerContent: LinkedContentSource {
    /// The URL of the folder.
    let url: URL
    let http: HTTPContent
    /// The timeout of the request for the catalog, in seconds.
    let timeout: Double

    var identifier: String { url.absoluteString }

    func list() async throws -> [Tenure.ContentListing] {
        let response = try await http.transport.send(
            TransportRequest(
                url.appendingPathComponent(SignedCatalog.fileName), timeout: timeout,
                bodyLimit: SignedCatalog.maximumTextSize))
        switch response.status {
        case 200: return [.catalog(response.body)]
        case 404, 410: throw Tenure.ContentSourceError.missing
        default: throw Tenure.ContentSourceError.unavailable()
        }
    }

    func link(to request: Tenure.ContentRequest) -> URL { url.appendingPathComponent(request.digest) }
}
