import Foundation
import Hummingbird
import TenureAPI

/// Authenticates a customer's requests by the access token of an earlier sync.
struct CustomerAccess: Sendable {
    let accessTokenKey: AccessTokenKey
    let acceptedRealms: AcceptedRealms

    /// Returns the access token of a request. Throws `notAuthenticated` if it is missing, invalid or expired. Also
    /// throws if the service no longer accepts the token's realm: the App Store environment or test authority that
    /// signed the customer's artifacts.
    func token(of request: Request, now: Date) throws(Problem) -> AccessToken {
        guard let bearer = request.bearer, let token = accessTokenKey.token(in: bearer), now < token.expiresAt,
            acceptedRealms.contains(token.realm)
        else { throw Problem.accessTokenRefused }
        return token
    }
}
