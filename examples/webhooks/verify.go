// Verifies a delivery: WEBHOOK_SECRET=whsec_... go run verify.go "<X-Service-Signature>" < body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

// isGenuine takes the bytes as they came, before any JSON parser, and the value of X-Service-Signature.
func isGenuine(body []byte, header, secret string, now int64) bool {
	t := ""
	var given []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t = value
		case "v1":
			given = append(given, value)
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || now-seconds > toleranceSeconds || seconds-now > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	wanted := mac.Sum(nil)
	// While a secret is being rotated there are several v1; one that matches is enough.
	for _, value := range given {
		if bytes, err := hex.DecodeString(value); err == nil && hmac.Equal(bytes, wanted) {
			return true
		}
	}
	return false
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	signature := ""
	if len(os.Args) > 1 {
		signature = os.Args[1]
	}
	if err != nil || !isGenuine(body, signature, os.Getenv("WEBHOOK_SECRET"), time.Now().Unix()) {
		fmt.Println("invalid")
		os.Exit(1)
	}
	fmt.Println("valid")
}
