/// A paid app that becomes free, on iOS only. The linter has no findings about this policy.
let samplePolicy = """
    app: { bundleID: com.example.calculator, appleID: 828838134 }
    eras:
      - { name: paid, model: paid }
      - name: freemium
        model: free
        begins:
          iOS: { build: "120", at: 2015-06-10T18:00:00Z }
        changeover: { from: -24h, until: +48h }
    buildNumbers: increasing
    entitlements:
      premium:
        products: [com.example.calculator.premium]
        honors: [paid]

    """
