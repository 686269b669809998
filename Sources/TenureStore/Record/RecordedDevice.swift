package import Foundation

/// A device on which a customer was seen.
package struct RecordedDevice: Sendable, Hashable {
    /// The hash of its id.
    package let device: String
    package let firstSeen: Date
    package let lastSeen: Date
    /// How many certificates it got.
    package let certificates: Int

    package init(device: String, firstSeen: Date, lastSeen: Date, certificates: Int) {
        self.device = device
        self.firstSeen = firstSeen.toMillisecond
        self.lastSeen = lastSeen.toMillisecond
        self.certificates = certificates
    }
}

/// That a customer's proof was sent by the device that it was signed for.
package struct DeviceSighting: Sendable, Hashable {
    /// The hash of its id.
    package let device: String
    package let getsCertificate: Bool
    /// More devices than that are worth a look: an event says so, and nothing else happens.
    package let limit: Int

    package init(device: String, getsCertificate: Bool, limit: Int) {
        self.device = device
        self.getsCertificate = getsCertificate
        self.limit = limit
    }
}
