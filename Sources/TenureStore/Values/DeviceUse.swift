/// That a customer's proof was sent by the device that it was signed for.
package struct DeviceUse: Sendable, Hashable {
    /// The hash of its id.
    package let device: String
    package let getsEntitlementToken: Bool
    /// More devices than that are worth a look: an event says so, and nothing else happens.
    package let limit: Int

    package init(device: String, getsEntitlementToken: Bool, limit: Int) {
        self.device = device
        self.getsEntitlementToken = getsEntitlementToken
        self.limit = limit
    }
}
