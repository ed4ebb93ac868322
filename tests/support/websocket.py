"""A WebSocket client of the plainest kind (RFC 6455): what a browser sends, or what none would."""
import base64
import hashlib
import os
import socket
import struct

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    pass


def request(port, text):
    """Raw bytes of HTTP to the server; all that it answers until it hangs up or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=3) as s:
        s.sendall(text if isinstance(text, bytes) else text.encode())
        answer = b""
        try:
            while more := s.recv(65536):
                answer += more
                head, _, body = answer.partition(b"\r\n\r\n")
                length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                if body and length and len(body) >= length[0]:
                    break
        except (socket.timeout, ConnectionError):
            pass
    return answer


class WebSocket:
    def __init__(self, port, path="/live", host=None, origin=True, protocol="sim", timeout=20):
        host = host or f"127.0.0.1:{port}"
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key.decode()}", "Sec-WebSocket-Version: 13"]
        lines += [f"Origin: {'http://' + host if origin is True else origin}"] if origin else []
        lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.rest = b""
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise Closed("no answer")
            head += byte
        if not head.startswith(b"HTTP/1.1 101"):
            self.socket.close()
            raise Closed(head.split(b"\r\n")[0].decode())
        assert base64.b64encode(hashlib.sha1(key + GUID).digest()) in head

    def raw(self, data):
        self.socket.sendall(data)

    def send(self, text, opcode=1, final=True):
        data = text.encode() if isinstance(text, str) else text
        size = struct.pack(">B", 128 | len(data)) if len(data) < 126 else (
            struct.pack(">BH", 254, len(data)) if len(data) < 65536 else struct.pack(">BQ", 255, len(data)))
        mask = os.urandom(4)
        masked = bytes(b ^ mask[k % 4] for k, b in enumerate(data))
        self.raw(struct.pack(">B", opcode | (128 if final else 0)) + size + mask + masked)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise Closed("gone")
            data += more
        return data

    def frame(self):
        """One frame: opcode and payload."""
        first, size = self.exactly(2)
        size = size & 127
        size = struct.unpack(">H", self.exactly(2))[0] if size == 126 else (
            struct.unpack(">Q", self.exactly(8))[0] if size == 127 else size)
        return first, self.exactly(size)

    def receive(self):
        """One message, whole; pings are answered."""
        whole = b""
        while True:
            first, data = self.frame()
            opcode = first & 15
            if opcode == 8:
                raise Closed(f"closed: {struct.unpack('>H', data[:2])[0] if len(data) >= 2 else ''}")
            if opcode == 9:
                self.send(data, 10)
            elif opcode in (0, 1, 2):
                whole += data
                if first & 128:
                    return whole

    def close(self):
        self.socket.close()
