// How quick the page of a story is: `scripts/browser-check --do "$(cat Tests/System/BrowserTests/scrub.js)" story.html`.
// Goes through up to a thousand updates, each with its layout; then draws one per animation frame for two seconds.
const place = document.getElementById("place"), updates = Number(place.max) + 1;
const go = (index) => { place.value = index; place.dispatchEvent(new Event("input")); };
let start = performance.now(), laidOut = 0, drawn = 0;
for (let index = 0; index < updates; index += Math.ceil(updates / 1000)) { go(index); document.body.offsetHeight; laidOut += 1; }
const layout = (performance.now() - start) / laidOut;
start = performance.now();
await new Promise((done) => {
  const tick = () => {
    go((drawn * 7) % updates);
    drawn += 1;
    if (performance.now() - start < 2000) requestAnimationFrame(tick); else done();
  };
  requestAnimationFrame(tick);
});
return {
  updates, millisecondsPerUpdate: Math.round(layout * 100) / 100,
  framesPerSecond: Math.round(drawn / (performance.now() - start) * 1000), elements: document.querySelectorAll("*").length };
