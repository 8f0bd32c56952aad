#!/bin/sh
# Makes throw-away keys and certificates for trying Fanfare against the APNs simulator: a CA, a server certificate for
# localhost and 127.0.0.1, and an ES256 key pair as Apple hands it out. None of it is good for anything else.
#
#   usage: certificates.sh DIRECTORY
#
#   ca.pem           trust this (fanfare --ca)
#   server.pem/.key  for the simulator (--cert, --key)
#   apns.p8          signs provider tokens (fanfare --key)
#   apns.pub.pem     checks them (--public-key)
set -eu
umask 077
if [ $# -ne 1 ]; then
    echo "usage: certificates.sh DIRECTORY" >&2
    exit 2
fi
if ! command -v openssl >/dev/null; then
    echo "certificates.sh: openssl is missing; install it: apt-get install openssl" >&2
    exit 1
fi
mkdir -p "$1"
cd "$1"

quietly() {
    # openssl prints progress on standard error; it is worth reading only when it fails.
    if ! "$@" >openssl.log 2>&1; then
        cat openssl.log >&2
        exit 1
    fi
}

quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
    -subj "/CN=Fanfare throw-away CA" -keyout ca.key -out ca.pem \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign"
quietly openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -subj "/CN=localhost" -keyout server.key -out server.csr
printf '%s\n' "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1" "basicConstraints=CA:FALSE" \
    "extendedKeyUsage=serverAuth" >server.ext
quietly openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \
    -extfile server.ext -out server.pem
quietly openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out apns.p8
quietly openssl pkey -in apns.p8 -pubout -out apns.pub.pem
rm -f server.csr server.ext ca.srl openssl.log
chmod 600 ca.key ca.pem server.key server.pem apns.p8 apns.pub.pem
