// Live pages: fragments pushed by the server replace the elements of the same id; ages and the clock tick in between.
// The page works without this file, it only stands still then.

const state = document.getElementById("live-state");
const source = document.body.dataset.live;
const serverNow = Number(document.body.dataset.nowMs);
const skew = serverNow ? serverNow - Date.now() : 0;

function say(name, words) {
  if (state && state.dataset.state !== name) {
    state.dataset.state = name;
    state.textContent = words;
  }
}

// Put a fragment in place without taking the keyboard away from whoever is inside it.
function replace(id, html) {
  const old = document.getElementById(id);
  if (!old) {
    // A table or floor that was not there when the page was made.
    if (id.startsWith("row-") || id.startsWith("figures-")) window.location.reload();
    return;
  }
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  if (!fresh || fresh.isEqualNode(old)) return;
  const inside = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  old.replaceWith(fresh);
  if (inside) {
    const again = [...fresh.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === inside);
    if (again) again.focus({ preventScroll: true });
  }
}

function age(seconds) {
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d`;
}

const clock = document.getElementById("clock");
const written = clock && new Intl.DateTimeFormat("en-US", {
  timeZone: clock.dataset.zone, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

function tick() {
  const now = Date.now() + skew;
  if (clock) clock.textContent = written.format(now);
  for (const element of document.querySelectorAll("time.age[datetime]")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(element.dateTime)) / 1000));
    const words = age(seconds);
    if (element.textContent !== words) element.textContent = words;
  }
}

function listen() {
  const events = new EventSource(source);
  events.addEventListener("open", () => say("live", "Live"));
  events.addEventListener("fragment", (event) => {
    const { id, html } = JSON.parse(event.data);
    replace(id, html);
    tick();
    say("live", "Live");
  });
  events.addEventListener("waiting", (event) => say("waiting", event.data));
  events.addEventListener("error", () => {
    say("waiting", "Connection lost, trying again");
    // A refused stream (service not ready) is closed by the browser for good: open it anew.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  });
  window.addEventListener("pagehide", () => events.close(), { once: true });
}

if (source) listen();
tick();
setInterval(tick, 1000);
