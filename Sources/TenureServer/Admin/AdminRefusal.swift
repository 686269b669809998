import TenureAPI
import TenureStore

extension Problem {
    /// The status and message of each refused change.
    init(_ refusal: ChangeOutcome.Refusal) {
        let (code, detail): (Code, String) =
            switch refusal {
            case .noSuchCustomer: (.notFound, "there is no such customer")
            case .noSuchOther: (.notFound, "there is no such other customer")
            case .otherEnvironment: (.conflict, "the customers are in different environments, which never mix")
            case .unboundProof:
                (
                    .conflict,
                    """
                    nothing here proves that these purchases belong to the customer; sync with \
                    `deviceVerificationID` on the customer's device first
                    """
                )
            case .linkedToAnotherUser:
                (
                    .conflict,
                    """
                    this acquisition is linked to another user and `transfer` is `never`; unlink that user first, or \
                    ask support
                    """
                )
            case .separated: (.conflict, "a merge of these customers was undone; only another merge joins them again")
            case .notLinked: (.notFound, "this user isn't linked to this customer")
            case .notMerged: (.notFound, "the other customer isn't merged into this one")
            case .alreadyMerged: (.conflict, "the customers are already merged")
            case .tooManyMerged:
                (.conflict, "too many customers would be merged; undo merges of different people first")
            case .requestReused: (.conflict, "this `Idempotency-Key` belongs to another change; use a new one")
            }
        self.init(code, detail, reason: refusal.rawValue)
    }
}
