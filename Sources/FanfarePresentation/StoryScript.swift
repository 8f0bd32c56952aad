/// Script of a story's page.
enum StoryScript {
    /// Shows one frame at a time. The words of a frame are those of its item in the list; its pictures are put together from lines.
    static let source = #"""
        "use strict";
        (() => {
        const $ = (id) => document.getElementById(id);
        const data = JSON.parse($("pictures").textContent);
        const items = [...$("updates").children];
        const alerting = items.map((item) => item.querySelector(".alert") !== null);
        const svg = (picture) => picture < 0 ? "" : data.pictures[picture].map((line) => data.lines[line]).join("\n");
        let now = -1, timer = 0, telling = 0;

        const figures = data.places.map((place, index) => {
          const figure = document.createElement("figure"), caption = document.createElement("figcaption");
          const picture = document.createElement("div"), estimates = document.createElement("small");
          estimates.textContent = data.estimates[index] && "Estimates: " + data.estimates[index];
          caption.append(place, estimates);
          figure.append(picture, caption);
          $("places").append(figure);
          return { picture, shown: -2, width: 0, height: 0 };
        });

        function draw(figure, picture) {
          if (figure.shown === picture) return;
          figure.shown = picture;
          figure.picture.innerHTML = picture < 0 ? "<p>Nothing is shown.</p>" : svg(picture);
          // A card that becomes lower, or goes, must not move what stands beside it.
          const [, width, height] = / width="([\d.]+)" height="([\d.]+)"/.exec(svg(picture)) ?? [0, 0, 0];
          figure.picture.style.width = (figure.width = Math.max(figure.width, width)) + "px";
          figure.picture.style.minHeight = (figure.height = Math.max(figure.height, height)) + "px";
        }

        function show(index) {
          index = Math.max(0, Math.min(items.length - 1, index));
          if (index === now) return;
          now = index;
          const item = items[now];
          figures.forEach((figure, place) => draw(figure, data.frames[now][place]));
          const words = item.cloneNode(true), time = words.querySelector("time"), cause = words.querySelector("b");
          words.querySelector(".spoken")?.remove();
          const head = document.createElement("h2");
          head.append(time, " ", cause);
          words.querySelector("a").replaceWith(head);
          $("frame").replaceChildren(...words.children);
          $("place").value = now;
          $("place").setAttribute("aria-valuetext", `${now + 1} of ${items.length}, ${time.textContent}, ${cause.textContent}`);
          // A screen reader hears where the reader stops, not everything that passes; nor is the list drawn anew for all that.
          clearTimeout(telling);
          telling = setTimeout(rest, telling ? 150 : 0);
        }

        function rest() {
          $("updates").querySelector("[aria-current]")?.removeAttribute("aria-current");
          items[now].setAttribute("aria-current", "true");
          $("spoken").textContent = items[now].querySelector(".spoken")?.textContent ?? "";
        }

        function stop() {
          clearInterval(timer);
          timer = 0;
          $("play").textContent = "Play";
        }

        function play() {
          if (timer) return stop();
          if (now === items.length - 1) show(0);
          $("play").textContent = "Pause";
          // A second for an update; a long story takes two minutes, at ten updates a second at most.
          timer = setInterval(() => {
            show(now + 1);
            if (now === items.length - 1) stop();
          }, Math.max(100, Math.min(1000, 120000 / items.length)));
        }

        function nextAlert() {
          const next = alerting.indexOf(true, now + 1);
          show(next < 0 ? Math.max(0, alerting.indexOf(true)) : next);
        }

        function step(by) { stop(); show(now + by); }

        $("place").addEventListener("input", () => { stop(); show(Number($("place").value)); });
        $("previous").addEventListener("click", () => step(-1));
        $("next").addEventListener("click", () => step(1));
        $("play").addEventListener("click", play);
        $("alert").addEventListener("click", () => { stop(); nextAlert(); });
        $("alert").disabled = !alerting.includes(true);
        $("updates").addEventListener("click", (event) => {
          const link = event.target.closest("a");
          if (!link) return;
          event.preventDefault();
          stop();
          show(items.indexOf(link.parentElement));
          $("stage").scrollIntoView({ block: "nearest" });
        });
        // Elsewhere keys are those of the browser and of a screen reader.
        $("stage").addEventListener("keydown", (event) => {
          if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
          const inControl = event.target.closest("button, a") !== null;
          const does = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => { stop(); show(0); },
            End: () => { stop(); show(items.length - 1); }, a: () => { stop(); nextAlert(); } };
          // A focused button or link has the space bar, and the range its own arrows.
          if (event.key === " " && !inControl) { event.preventDefault(); play(); return; }
          if (event.target === $("place") && event.key !== "a") return;
          if (does[event.key]) { event.preventDefault(); does[event.key](); }
        });

        // On paper there is no time, so each update has its pictures.
        addEventListener("beforeprint", () => items.forEach((item, index) => {
          const strip = document.createElement("div");
          strip.className = "strip";
          strip.innerHTML = data.frames[index].map(svg).join("");
          item.append(strip);
        }));
        addEventListener("afterprint", () => document.querySelectorAll(".strip").forEach((strip) => strip.remove()));

        $("alerts").firstElementChild.setAttribute("d", alerting.map((is, index) => is ? `M${index} 0V1` : "").join(""));
        $("stage").hidden = false;
        const asked = items.findIndex((item) => "#" + item.id === location.hash);
        show(Math.max(0, asked));
        })();
        """#
}
