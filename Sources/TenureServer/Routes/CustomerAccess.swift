import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// Authenticates requests by their access token, and finds its customer.
struct CustomerAccess: Sendable {
    let accessTokenKey: AccessTokenKey
    let verifiedRealms: AcceptedRealms

    func token(of request: Request, now: Date) throws(Problem) -> AccessToken {
        guard let bearer = request.bearer, let token = accessTokenKey.token(in: bearer), now < token.expiresAt,
            verifiedRealms.contains(token.realm)
        else { throw Problem.accessTokenRefused }
        return token
    }
}
