// The replay: shows one of the pictures that the server drew. Each step also has an address (?step=n) that works without
// this file; with it, stepping asks the server for nothing more.

const room = document.getElementById("felt");
const scrub = document.getElementById("scrub");
const output = document.getElementById("step-output");
const sentence = document.getElementById("step-sentence");
const time = document.getElementById("step-time");
const play = document.getElementById("play");
const speed = document.getElementById("speed");
const list = document.querySelector(".events");
const last = Number(scrub.max);

let step = Number(scrub.value);
let timer = 0;
let frames = null;

const loading = fetch(room.dataset.frames, { headers: { accept: "application/json" } })
  .then((answer) => {
    if (!answer.ok) throw new Error(`the pictures could not be loaded (${answer.status})`);
    return answer.json();
  })
  .then((loaded) => { frames = loaded; })
  .catch((error) => {
    const notice = document.getElementById("replay-notice");
    notice.textContent = `${error.message}. Stepping still works, one page at a time.`;
    notice.hidden = false;
  });

function mark() {
  for (const element of document.querySelectorAll("[data-step]")) {
    const at = Number(element.dataset.step);
    element.classList.toggle("later", at > step);
    element.classList.toggle("now", at === step);
  }
  for (const item of list.querySelectorAll("li[aria-current]")) item.removeAttribute("aria-current");
  const current = [...list.querySelectorAll("li[data-step]")].filter((item) => Number(item.dataset.step) === step);
  for (const item of current) item.setAttribute("aria-current", "step");
  if (current.length) {
    const item = current[current.length - 1];
    // Scrolls the list only, never the page under the reader.
    const top = item.offsetTop - list.clientHeight / 2 + item.clientHeight / 2;
    list.scrollTop = Math.max(0, top);
  }
  for (const link of document.querySelectorAll("a[data-go]")) {
    const target = goal(link.dataset.go);
    link.setAttribute("aria-disabled", String(target === step));
    link.href = `?step=${target}`;
  }
}

function goal(name) {
  return { first: 0, back: Math.max(0, step - 1), next: Math.min(last, step + 1), last }[name];
}

async function show(target) {
  const wanted = Math.min(last, Math.max(0, target));
  if (!frames) await loading;
  if (!frames) {
    window.location.search = `?step=${wanted}`;
    return;
  }
  step = wanted;
  const frame = frames[step];
  room.innerHTML = frame.svg;
  room.dataset.shown = String(step);
  sentence.textContent = frame.sentence;
  time.textContent = frame.time;
  time.title = frame.utc;
  time.dateTime = frame.iso;
  scrub.value = String(step);
  scrub.setAttribute("aria-valuetext", `Step ${step} of ${last}: ${frame.sentence}`);
  output.textContent = `${step} / ${last}`;
  window.history.replaceState(null, "", `?step=${step}`);
  mark();
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  sentence.setAttribute("aria-live", "polite");
  play.setAttribute("aria-pressed", "false");
  play.querySelector("span").textContent = "Play";
  play.querySelector("path").setAttribute("d", "M3 1.5v13l11-6.5z");
}

// How long a step stays: a fixed beat, or as long as it did at the table, within reason.
function wait() {
  if (speed.value !== "real") return Number(speed.value);
  const gap = frames[step + 1].ms - frames[step].ms;
  return Math.min(8000, Math.max(60, gap));
}

function advance() {
  if (step >= last) {
    pause();
    return;
  }
  timer = setTimeout(async () => {
    await show(step + 1);
    if (timer) advance();
  }, wait());
}

async function start() {
  if (!frames) await loading;
  if (!frames) return;
  play.setAttribute("aria-pressed", "true");
  play.querySelector("span").textContent = "Pause";
  play.querySelector("path").setAttribute("d", "M3 1.5h4v13H3zM9 1.5h4v13H9z");
  timer = 1;
  // A screen reader could not keep up with a playing round; it is told each step that is taken by hand.
  sentence.setAttribute("aria-live", "off");
  if (step >= last) await show(0);
  advance();
}

function toggle() {
  if (timer) pause();
  else start();
}

play.addEventListener("click", toggle);
scrub.addEventListener("input", () => { pause(); show(Number(scrub.value)); });
document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a[data-go], .events a[data-to]");
  if (!link) return;
  event.preventDefault();
  pause();
  show(link.dataset.go ? goal(link.dataset.go) : Number(link.dataset.to));
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  const typing = target.matches("input:not([type=range]), select, textarea");
  if (typing) return;
  const moves = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: last };
  if (event.key in moves) {
    event.preventDefault();
    pause();
    show(moves[event.key]);
  } else if (event.key === " " && !target.matches("button, a, summary")) {
    event.preventDefault();
    toggle();
  }
});

document.body.dataset.replay = "ready";
mark();
