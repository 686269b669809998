package import Foundation
import TenureJSON

/// What is left of a customer's trial of an entitlement: the response to `POST /v1/trials/{entitlement}/sessions`.
package struct TrialResponse: Sendable, Hashable, Decodable {
    /// The name of the entitlement.
    package let entitlement: String
    /// Whether the customer has the entitlement, so that no session is counted.
    package let isOwner: Bool
    /// How many sessions the trial has. Nil for a trial of days, or if the customer has the entitlement.
    package let sessions: Int?
    /// How many sessions are left after the request's session. Nil under the same conditions as `sessions`.
    package let sessionsLeft: Int?
    /// The end of the request's session, or of the trial's days. Nil if the customer has the entitlement, or if no
    /// session is left.
    package let ends: Date?

    /// Creates a response. If the customer has the entitlement, it needs only the entitlement's name and `isOwner`.
    package init(
        entitlement: String, isOwner: Bool = false, sessions: Int? = nil, sessionsLeft: Int? = nil, ends: Date? = nil
    ) {
        self.entitlement = entitlement
        self.isOwner = isOwner
        self.sessions = sessions
        self.sessionsLeft = sessionsLeft
        self.ends = ends
    }

    enum CodingKeys: String, CodingKey { case entitlement, isOwner, sessions, sessionsLeft, ends }
}

/// The body of the request to begin a session of a trial.
package struct TrialRequest: Sendable, Hashable, Codable {
    /// The session's ID, at most 64 characters. The app creates an ID for each session. A repeated ID is counted once.
    package var id: String

    package init(id: String) { self.id = id }
}

extension JSONWriter {
    /// Writes the response as a JSON object.
    package mutating func value(_ trial: TrialResponse) {
        typealias Key = TrialResponse.CodingKeys
        beginObject()
        field(Key.entitlement, trial.entitlement)
        field(Key.isOwner, trial.isOwner)
        field(Key.sessions, ifPresent: trial.sessions)
        field(Key.sessionsLeft, ifPresent: trial.sessionsLeft)
        if let ends = trial.ends { field(Key.ends, ends) }
        endObject()
    }
}
