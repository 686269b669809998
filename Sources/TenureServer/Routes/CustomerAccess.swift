import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// Lets in whoever has an access token, to the record that it opens.
struct CustomerAccess: Sendable {
    let accessTokenKey: AccessTokenKey
    let verifiedRealms: AcceptedRealms

    static let refused = Problem(.notAuthenticated, "the access token is missing, wrong or over; sync again")

    func token(of request: Request, now: Date) throws(Problem) -> AccessToken {
        guard let header = request.headers[.authorization]?.utf8 else { throw Self.refused }
        // RFC 9110, section 11.1: the scheme in any case.
        guard let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 }),
            let token = accessTokenKey.token(in: header[start...]), now < token.expiresAt,
            verifiedRealms.contain(token.realm)
        else { throw Self.refused }
        return token
    }
}
