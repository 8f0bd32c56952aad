#!/usr/bin/python3
"""An independent, strict HTTP/2 server (python3-h2): each breach of the protocol, or of APNs' demands on a request, is a
violation, and ends the connection with the code that h2 finds for it.

argument: one JSON object
    {"cert", "key",                 PEM files
     "settings": [[[id, value]…]…], SETTINGS in turn, the first as greeting, the next whenever `settingsEvery` more requests
                                    have come and the last ones are acknowledged
     "settingsEvery": requests, "goAwayEvery": requests per connection (0: never), "pingEvery": requests (0: never),
     "pieceBytes": longest piece of a response's header block; the rest goes on in CONTINUATION (0: never),
     "deadBelow": tokens whose first byte is less get 410, "hold": size of a batch of answers, the last first}

It prints `{"port"}`, serves until its standard input ends, and prints
    {"accepted", "dead", "connections", "goAways", "acknowledgements": of SETTINGS, "pings": answered,
     "repeats": tokens accepted more than once, "violations": [text…]}
"""
import collections
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
from hyperframe.frame import GoAwayFrame

PATH = re.compile(r"/3/device/((?:[0-9a-f]{2})+)\Z")
FIELDS = {":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type", "apns-priority",
          "apns-expiration"}


class Books:
    def __init__(self):
        self.lock = threading.Lock()
        self.tokens = collections.Counter()
        self.counts = collections.Counter()
        self.violations = []

    def add(self, what):
        with self.lock:
            self.counts[what] += 1

    def violation(self, text):
        with self.lock:
            if len(self.violations) < 100:
                self.violations.append(text)


def cut(data, piece):
    """Cuts the blocks of complete frames into HEADERS and CONTINUATION."""
    result, position = b"", 0
    while position < len(data):
        length = int.from_bytes(data[position:position + 3], "big")
        kind, flags, stream = struct.unpack(">BBI", data[position + 3:position + 9])
        payload = data[position + 9:position + 9 + length]
        position += 9 + length
        # Our responses have neither padding nor priority.
        pieces = [payload[i:i + piece] for i in range(0, length, piece)] if kind == 1 and piece else [payload]
        for index, part in enumerate(pieces):
            bits = flags
            if len(pieces) > 1:
                bits = (flags & 1 if index == 0 else 0) | (4 if index == len(pieces) - 1 else 0)
            result += len(part).to_bytes(3, "big") + struct.pack(">BBI", kind if index == 0 else 9, bits, stream) + part
    return result


class Conversation:
    def __init__(self, stream, order, books):
        self.stream, self.order, self.books = stream, order, books
        self.session = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests, self.bodies, self.held, self.blocked = {}, {}, [], {}
        self.seen = self.highest = 0
        self.turn, self.due, self.acknowledged = 0, order["settingsEvery"], True
        self.last = None  # the last stream of our GOAWAY
        self.farewell_heard = False

    def violation(self, text):
        self.books.violation(text)

    def serve(self):
        # A client that waits for our greeting before the first request must keep to it from the first request on.
        greeting = {h2.settings.SettingCodes(i): v for i, v in self.order["settings"][0]}
        self.session.local_settings = h2.settings.Settings(client=False, initial_values=greeting)
        self.session.decoder.max_allowed_table_size = self.session.local_settings.header_table_size
        self.acknowledged = False
        self.session.initiate_connection()
        self.send()
        while True:
            data = self.stream.recv(65536)
            if not data:
                break
            try:
                for event in self.session.receive_data(data):
                    self.take(event)
            except h2.exceptions.ProtocolError as error:
                self.violation(f"{type(error).__name__}: {error}")
                self.send()
                return
            self.answer_some()
            self.send()
        if self.requests:
            self.violation(f"the connection ended with {len(self.requests)} requests unfinished or unanswered")
        if self.seen and not self.farewell_heard:
            self.violation("the connection ended without GOAWAY")

    def send(self):
        data = self.session.data_to_send()
        if data:
            self.stream.sendall(cut(data, self.order["pieceBytes"]))

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.request(event)
        elif isinstance(event, h2.events.DataReceived):
            if event.stream_id in self.bodies:
                self.bodies[event.stream_id] += event.data
            self.session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            if event.stream_id in self.requests:
                self.held.append(event.stream_id)
        elif isinstance(event, h2.events.SettingsAcknowledged):
            self.books.add("acknowledgements")
            self.acknowledged = True
        elif isinstance(event, h2.events.PingAckReceived):
            if event.ping_data == b"farewell":
                self.farewell_heard = True
            else:
                self.books.add("pings")
        elif isinstance(event, h2.events.WindowUpdated):
            for number in sorted(self.blocked):
                self.go_on(number)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.farewell_heard = True
            if event.error_code != 0:
                self.violation(f"GOAWAY with {event.error_code}: {event.additional_data}")
        elif isinstance(event, h2.events.StreamReset):
            self.violation(f"RST_STREAM of stream {event.stream_id}, code {event.error_code}")

    def request(self, event):
        if self.last is not None:
            if self.farewell_heard:
                self.violation(f"stream {event.stream_id} opened after the GOAWAY had been heard")
            return  # crossed our GOAWAY: it is not processed
        number = event.stream_id
        self.seen += 1
        self.highest = number
        self.requests[number], self.bodies[number] = dict(event.headers), b""
        if len(self.requests[number]) != len(event.headers):
            self.violation("a field twice")
        order = self.order
        if order["pingEvery"] and self.seen % order["pingEvery"] == 0:
            self.session.ping(struct.pack(">Q", self.seen))
        if self.seen >= self.due and self.acknowledged:
            self.turn = (self.turn + 1) % len(order["settings"])
            self.session.update_settings({h2.settings.SettingCodes(i): v for i, v in order["settings"][self.turn]})
            self.acknowledged, self.due = False, self.seen + order["settingsEvery"]
        if order["goAwayEvery"] and self.seen == order["goAwayEvery"]:
            # h2 would refuse all input after its own GOAWAY, though the older requests are still to be served.
            self.last = self.highest
            self.send()
            self.stream.sendall(GoAwayFrame(stream_id=0, last_stream_id=self.last).serialize())
            self.session.ping(b"farewell")

    def answer_some(self):
        # A batch may never fill if few streams are allowed, so all open requests are a batch, too.
        if len(self.held) >= min(self.order["hold"], len(self.requests)):
            for number in reversed(self.held):
                self.answer(number)
            self.held = []

    def answer(self, number):
        fields, body = self.requests.pop(number), self.bodies.pop(number)
        token = self.token(fields, body)
        fields = [("apns-id", os.urandom(16).hex()), ("x-noise", os.urandom(40).hex())]
        if int(token[:2], 16) < self.order["deadBelow"]:
            self.books.add("dead")
            answer = b'{"reason":"Unregistered","timestamp":1700000000000}'
            if number % 4 == 1:
                self.session.send_headers(number, [(":status", "103"), ("x-noise", "early")])
            fields += [("content-length", str(len(answer))), ("content-type", "application/json")]
            self.session.send_headers(number, [(":status", "410")] + fields)
            self.blocked[number] = answer
            self.go_on(number)
        else:
            with self.books.lock:
                self.books.tokens[token] += 1
            self.session.send_headers(number, [(":status", "200")] + fields, end_stream=number % 4 == 1)
            if number % 4 == 3:
                self.session.send_data(number, b"", end_stream=True)

    def go_on(self, number):
        """A body in small pieces, padded, as far as the client's windows allow."""
        rest = self.blocked.pop(number)
        while rest:
            if self.session.local_flow_control_window(number) < 40:
                self.blocked[number] = rest
                return
            piece, rest = rest[:17], rest[17:]
            self.session.send_data(number, piece, end_stream=not rest, pad_length=number % 20)

    def token(self, fields, body):
        if set(fields) != FIELDS:
            self.violation(f"fields {sorted(set(fields) ^ FIELDS)} too many or missing")
        for name, expected in (":method", "POST"), (":scheme", "https"), ("apns-push-type", "liveactivity"):
            if fields.get(name) != expected:
                self.violation(f"{name} is {fields.get(name)}")
        if not fields.get("authorization", "").startswith("bearer "):
            self.violation("no bearer token")
        try:
            json.loads(body)["aps"]["content-state"]
        except (ValueError, LookupError, TypeError) as error:
            self.violation(f"body of {len(body)} bytes: {error!r}")
        match = PATH.match(fields.get(":path", ""))
        if not match:
            self.violation("the path is no device's")
        return match.group(1) if match else "ff"


def serve(plain, context, order, books):
    try:
        stream = context.wrap_socket(plain, server_side=True)
    except OSError:
        return  # a client may change its mind before it is connected
    conversation = None
    try:
        with stream:
            if stream.selected_alpn_protocol() != "h2":
                books.violation("ALPN is not h2")
                return
            books.add("connections")
            conversation = Conversation(stream, order, books)
            conversation.serve()
            if conversation.last is not None:
                books.add("goAways")
    except OSError as error:
        # A client may also change its mind before its first request: a pool that closes gives up a connection that it just opens.
        if conversation and conversation.seen:
            books.violation(f"the connection broke: {error!r}")
    except Exception as error:  # ours: it must not go unseen in a thread
        books.violation(f"the server itself failed: {error!r}")


def main():
    order, books = json.loads(sys.argv[1]), Books()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(order["cert"], order["key"])
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    threads = []

    def accept():
        while True:
            plain, _ = listener.accept()
            thread = threading.Thread(target=serve, args=(plain, context, order, books), daemon=True)
            threads.append(thread)
            thread.start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    for thread in list(threads):
        thread.join(timeout=120)
    print(json.dumps({
        "accepted": sum(books.tokens.values()), "repeats": sum(n > 1 for n in books.tokens.values()),
        "violations": books.violations,
        **{name: books.counts[name] for name in ("dead", "connections", "goAways", "acknowledgements", "pings")}}))


main()
