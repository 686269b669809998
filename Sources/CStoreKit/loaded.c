#include "CStoreKit.h"

// Swift has no code that runs before `main`, and an app may ask for its receipt before anything else.
__attribute__((constructor)) static void loaded(void) { tenure_storekit_loaded(); }
