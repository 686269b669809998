/// The use of a device: the device sent an artifact that was signed for it.
package struct DeviceUse: Sendable, Hashable {
    /// The hash of the device's ID.
    package let device: String
    /// Whether the response contains an entitlement token: a signed statement of the entitlements for this device.
    let getsEntitlementToken: Bool
    /// The number of devices above which an event is stored. The limit has no other effect.
    let limit: Int

    package init(device: String, getsEntitlementToken: Bool, limit: Int) {
        self.device = device
        self.getsEntitlementToken = getsEntitlementToken
        self.limit = limit
    }
}
