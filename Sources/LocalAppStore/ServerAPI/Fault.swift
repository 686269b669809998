/// Injected errors of the App Store Server API, for testing a server. The error of a rate limit tells the server to try
/// again in a second.
actor Fault {
    /// The injected error.
    private var error: ServerAPIError?
    /// The number of requests that will still fail.
    private var requests = 0

    /// Makes the next `requests` requests fail. 0 ends the fault.
    func inject(_ error: ServerAPIError, requests: Int) {
        self.error = error
        self.requests = requests
    }

    /// Returns the error for the next request; nil if the request doesn't fail.
    func next() -> ServerAPIError? {
        guard requests > 0 else { return nil }
        requests -= 1
        return error
    }
}
