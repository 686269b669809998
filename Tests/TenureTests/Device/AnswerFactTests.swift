import Foundation
import TenureAPI
import TenureCore
import Testing

@testable import Tenure

/// The facts in `Tenure.Answer.Reason`, from the device's decisions and from the service's responses.
@Suite struct `Facts in answers` {
    private typealias Reason = Tenure.Answer.Reason

    @Test func `an answer from the service keeps the texts and lists in its reasons`() throws {
        let text = """
            {"outcome":"granted","until":"2027-05-01T08:00:00Z","sentence":"It is yours.","nextSteps":["support"],
            "reasons":[{"code":"version","version":"37","eras":["paid","free"]},{"code":"promise"}]}
            """
        let response = try JSONDecoder().decode(EntitlementResponse.self, from: Data(text.utf8))
        let answer = Tenure.Answer(response, named: "everything")
        #expect(answer.entitlement == "everything" && answer.outcome == .granted)
        #expect(answer.until == InventedApp.date("2027-05-01T08:00:00Z") && answer.sentence == "It is yours.")
        let version = Reason("version", ["version": ["37"], "eras": ["paid", "free"]])
        #expect(answer.reasons == [version, Reason("promise")])
        #expect(answer.nextSteps == [.support])
    }

    @Test func `an answer from the device has names and dates as the service writes them`() async {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactions = [InventedApp.purchase(revoked: InventedApp.now.addingTimeInterval(-60))]
        }
        let reasons = await Device(store).start().settled().answers["everything"]?.reasons ?? []
        let refund = Reason("refunded", ["product": [InventedApp.everything], "at": ["2026-11-20T11:59:00Z"]])
        #expect(reasons.contains(refund), "\(reasons)")
        #expect(reasons.contains(Reason("eraNotHonored", ["eras": ["freemium"]])), "\(reasons)")
    }

    @Test func `a denial that can't be confirmed keeps its reasons behind the device's reason`() async throws {
        let customer = await Device(FakeStore { $0.app = InventedApp.newcomer() }).start().settled()
        let denial = try #require(customer.answers["everything"])
        #expect(denial.outcome == .denied && !denial.reasons.isEmpty)
        let answer = denial.undetermined(because: .notAnswered, title: nil)
        #expect(answer.outcome == .undetermined)
        #expect(answer.reasons == [Reason("notAnswered")] + denial.reasons)
        let steps: [NextStep] = denial.nextSteps.isEmpty ? [.appTransaction, .purchases] : denial.nextSteps
        #expect(answer.nextSteps == steps)
    }
}
