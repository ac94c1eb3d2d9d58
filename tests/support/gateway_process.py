"""A real gateway in a process of its own, that can be killed and started again on the same log and address."""

from pathlib import Path

from tests.support.house_process import HouseProcess, free_port


class GatewayProcess(HouseProcess):
    """`async with GatewayProcess(folder, house_address) as gateway:` leaves no process behind."""

    ready = b"gateway of "

    def __init__(self, folder: Path, house: str, floor: str = "black-hawk", *, largest_file_bytes: int = 0) -> None:
        super().__init__(folder, largest_file_bytes=largest_file_bytes)
        self.log = folder / f"gateway-{floor}.log"
        self.address = f"127.0.0.1:{free_port()}"
        self.kept = folder / f"gateway-{floor}.db"
        self._arguments = [
            "-m", "services", "floor", "gateway", "run", "--plain-text", "--floor", floor, "--house", house,
            "--log", str(self.kept), "--listen", self.address, "--metrics", "127.0.0.1:0",
        ]  # fmt: skip
