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
