#!/usr/bin/python3
"""An independent HTTP/2 client (python3-h2) for the simulator's tests: one JSON object in, one out.

in:  {"port", "ca", "concurrent": streams at most, "requests": [{"headers": [[name, value]...], "body"}],
      "bodiesLast": whether requests that go out together send all their heads before their bodies,
      "pingsAndLeaves": whether a PING follows the last request, with whose answer the client leaves}
out: {"answers": [{"status", "body", "id", "ms"}, or null without an answer], "settings": [[id, value]... per SETTINGS],
      "goAways": [{"last", "code", "debug", "sent": highest stream opened}], "connections", "windowUpdates",
      "resets": [code...], "pongs"}

Requests without an answer get null when a connection ends, and the rest goes on over a new one.
"""
import json
import socket
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

# h2 takes a GOAWAY for the end and refuses the answers that may still follow it (RFC 9113 §6.8).
h2.connection.H2ConnectionStateMachine._transitions[
    (h2.connection.ConnectionState.CLIENT_OPEN, h2.connection.ConnectionInputs.RECV_GOAWAY)
] = (None, h2.connection.ConnectionState.CLIENT_OPEN)


def run(order):
    context = ssl.create_default_context(cafile=order["ca"])
    context.set_alpn_protocols(["h2"])
    requests = order["requests"]
    result = {"answers": [None] * len(requests), "settings": [], "goAways": [], "connections": 0, "windowUpdates": [],
              "resets": [], "pongs": 0}
    following = 0
    while following < len(requests):
        result["connections"] += 1
        following = carry(context, order, requests, following, result)
    return result


def carry(context, order, requests, following, result):
    """Sends the requests from `following` on over one connection; returns the index of the next one."""
    plain = socket.create_connection(("localhost", order["port"]), timeout=120)
    with context.wrap_socket(plain, server_hostname="localhost") as stream:
        session = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        session.initiate_connection()
        stream.sendall(session.data_to_send())
        open_streams, answers, sent_at = {}, {}, {}
        heard, closing, highest = False, False, 0
        has_pinged, has_pong = False, False
        while True:
            allowed = min(order["concurrent"], session.remote_settings.max_concurrent_streams) if heard else 0
            bodies = []
            while not closing and following < len(requests) and len(open_streams) < allowed:
                request = requests[following]
                number = session.get_next_available_stream_id()
                body = request["body"].encode()
                if session.outbound_flow_control_window < len(body) + sum(len(later) for _, later in bodies):
                    break
                session.send_headers(number, [tuple(field) for field in request["headers"]], end_stream=not body)
                if body:
                    bodies.append((number, body))
                if not order["bodiesLast"]:
                    send_bodies(session, bodies)
                open_streams[number], sent_at[number], highest = following, time.monotonic(), number
                following += 1
            send_bodies(session, bodies)
            if order.get("pingsAndLeaves") and following == len(requests) and not has_pinged:
                session.ping(b"anybody?")
                has_pinged = True
            try:
                stream.sendall(session.data_to_send())
                if not open_streams and (closing or following == len(requests)):
                    return following
                data = stream.recv(65536)
            except (ConnectionError, ssl.SSLError):
                return following
            if not data:
                return following
            for event in session.receive_data(data):
                if isinstance(event, h2.events.RemoteSettingsChanged):
                    heard = True
                    result["settings"].append([[int(c.setting), c.new_value] for c in event.changed_settings.values()])
                elif isinstance(event, h2.events.ResponseReceived):
                    fields = dict(event.headers)
                    milliseconds = (time.monotonic() - sent_at[event.stream_id]) * 1000
                    answers[event.stream_id] = {
                        "status": int(fields[":status"]), "id": fields.get("apns-id"), "body": "", "ms": milliseconds}
                elif isinstance(event, h2.events.DataReceived):
                    answers[event.stream_id]["body"] += event.data.decode()
                    session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    result["answers"][open_streams.pop(event.stream_id)] = answers.pop(event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    open_streams.pop(event.stream_id, None)
                    result["resets"].append(int(event.error_code))
                elif isinstance(event, h2.events.PingAckReceived):
                    result["pongs"] += 1
                    has_pong = True
                elif isinstance(event, h2.events.WindowUpdated):
                    result["windowUpdates"].append([event.stream_id, event.delta])
                elif isinstance(event, h2.events.ConnectionTerminated):
                    closing = True
                    result["goAways"].append({
                        "last": event.last_stream_id, "code": int(event.error_code),
                        "debug": (event.additional_data or b"").decode(), "sent": highest})
                    for number in [n for n in open_streams if n > event.last_stream_id]:
                        open_streams.pop(number)
            # The read may have had answers to older requests after the PING's; all of them have been handled here.
            if has_pong:
                return following


def send_bodies(session, bodies):
    while bodies:
        number, body = bodies.pop(0)
        session.send_data(number, body, end_stream=True)


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
