// The views of the page: from above, in fights with height with the view from the side, the graph, and the free camera.

const FRAME = [[20, 12], [20, 20], [12, 20]]; // one corner around the target [px]

/** Returns the line of a caption about the signs of teams, if a human flies. */
function teamCaption(fight, { aims }) {
  if (!fight.isTeam || !aims) return [];
  return [[["", "You fly the fighter with a ring, and fire at the framed enemy. Click others to change either."]]];
}

class Views {
  constructor(fights, settings) {
    const nothing = () => {};
    Object.assign(this, { fights, settings, isBlind: false });
    this.plane = new Plane(element("plane"), fights, settings, nothing);
    this.side = new SideView(element("side"), fights, settings);
    this.graph = new Graph(element("graph"), fights, settings, nothing);
    this.camera = new Camera(element("camera"), element("camera-labels"), fights, settings, nothing);
  }

  /** Shows another fight as a whole. */
  reset() {
    const { settings } = this;
    this.graph.reset();
    this.camera.reset();
    this.plane.view.scale = 0;
    settings.follow = "both";
  }

  /** Goes to a view, or from it back to the view from above. Returns the reason if that is not possible. */
  toggle(view) {
    const { settings } = this;
    if (view === "camera" && !this.camera.isPossible) {
      this.isBlind = true;
      return NO_CAMERA;
    }
    settings.view = settings.view === view ? "plane" : view;
    return "";
  }

  /** Draws, in teams, the corners of a frame around the target of the human's shots. */
  _frameTarget({ context, states, fight, colours: { star } }, placeOf) {
    const target = fight.isTeam ? fight.targetOf(this.settings.fighter) : undefined;
    if (target === undefined || states[target].known === false) return;
    const at = placeOf(states[target]);
    if (!at) return; // behind the camera
    for (const [right, up] of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
      line(context, FRAME.map(([x, y]) => ({ x: at.x + right * x, y: at.y + up * y })), star, 1.5);
    }
  }

  /**
   * Draws the view of the settings, `since` seconds after the end; returns the lines of its caption. The
   * graph needs a fighter that lives.
   */
  draw(time, since, hasGraph) {
    const { settings, fights: { truth } } = this;
    const view = settings.view === "spacetime" && !hasGraph ? "plane" : settings.view;
    const hasSide = view === "plane" && truth.hasHeight;
    element("plane").hidden = view !== "plane";
    element("side").hidden = !hasSide;
    element("graph").hidden = view !== "spacetime";
    element("camera").hidden = element("camera-labels").hidden = view !== "camera";
    element("stage").classList.toggle("high", truth.hasHeight);
    element("view-camera").hidden = this.isBlind;
    element("view-camera").setAttribute("aria-pressed", view === "camera");
    if (hasSide) this.side.draw(time);
    if (view === "plane") {
      this.plane.draw(time + since);
      this._frameTarget(this.plane, (state) => this.plane.place(state));
      return [...teamCaption(truth, settings), ...planeCaption(settings, this.plane.fight)];
    }
    if (view === "camera") {
      this.camera.draw(time);
      this._frameTarget(this.camera, (state) => this.camera.place(this.camera._point(state)));
      return [...teamCaption(truth, settings), ...cameraCaption(settings, this.camera.fight)];
    }
    this.graph.draw(time);
    return graphCaption(this.graph.scene(time), settings.fighter, this.graph.fight, time);
  }
}
