"""Verifies a delivery: WEBHOOK_SECRET=whsec_... python3 verify.py "<X-Service-Signature>" < body"""

import hashlib
import hmac
import os
import sys
import time

TOLERANCE_S = 300


def is_genuine(body: bytes, header: str, secret: str, now: float) -> bool:
    """`body` are the bytes as they came, before any JSON parser; `header` is X-Service-Signature."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    t = next((value for name, value in parts if name == "t"), "")
    if not (t.isascii() and t.isdigit()) or abs(now - int(t)) > TOLERANCE_S:
        return False
    wanted = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    # While a secret is being rotated there are several v1; one that matches is enough.
    return any(name == "v1" and hmac.compare_digest(value.encode(), wanted.encode()) for name, value in parts)


if __name__ == "__main__":
    signature = sys.argv[1] if len(sys.argv) > 1 else ""
    genuine = is_genuine(sys.stdin.buffer.read(), signature, os.environ.get("WEBHOOK_SECRET", ""), time.time())
    print("valid" if genuine else "invalid")
    sys.exit(0 if genuine else 1)
