import Tenure
import Testing

@Suite struct `Errors of the client` {
    @Test(arguments: [
        (Tenure.Error.service("it is down"), true), (.notStored("the disk is full"), true),
        (.unverified("no signature"), false), (.purchasesUnavailable("an extension"), false),
        (.serviceAddress("no TLS"), false), (.policy(.missing(name: "policy")), false), (.key("no key"), false),
        (.accessGroup("no group"), false), (.persona("a token"), false), (.noTrial(entitlement: "everything"), false),
        (.trialOver(entitlement: "everything"), false),
    ])
    func `an error of the client is retryable only if the service or the disk may work later`(
        error: Tenure.Error, isRetryable: Bool
    ) {
        #expect(error.isRetryable == isRetryable)
    }
}
