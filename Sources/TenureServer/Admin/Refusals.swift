import TenureAPI
import TenureStore

extension Problem {
    /// The one table of what a refused act is told.
    init(_ refusal: ActOutcome.Refusal) {
        let (code, detail): (Code, String) =
            switch refusal {
            case .noSuchCustomer: (.notFound, "there is no such customer")
            case .noSuchOther: (.notFound, "there is no such other customer")
            case .otherRealm: (.conflict, "they belong to different environments, which never mix")
            case .unboundProof:
                (
                    .conflict,
                    """
                    this record holds what somebody showed who did not prove that it is theirs; sync with \
                    `deviceVerificationID` on the customer's own device first
                    """
                )
            case .linkedToAnotherUser:
                (
                    .conflict,
                    """
                    this acquisition is linked to another user and `transfer` is `never`; unlink that one, or let \
                    support do it
                    """
                )
            case .separated: (.conflict, "a person parted these customers; only a person merges them again")
            case .notLinked: (.notFound, "this user is not linked with this customer")
            case .notMerged: (.notFound, "the other was not merged into this customer")
            case .alreadyMerged: (.conflict, "they are one customer already")
            case .tooManyMembers: (.conflict, "no customer is made of so many; part those who are not one person")
            case .requestReused: (.conflict, "this `Idempotency-Key` stands for another act; make a new one")
            }
        self.init(code, detail, reason: refusal.rawValue)
    }
}
