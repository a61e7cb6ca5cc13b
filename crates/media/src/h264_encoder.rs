//! OpenH264's encoder, through its C interface.
//!
//! Not through the safe crate `openh264`: that one refuses pictures of more than 3840×2160, which
//! the library takes, and fails at pictures of fine noise, for which it asks too small a buffer.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::ptr::{self, NonNull};
use std::slice;

use framefence::pixel::I420Planes;
use framefence::{FrameRate, Size};
use openh264_sys2::source::APILoader as OpenH264;
use openh264_sys2::{
    CAMERA_VIDEO_REAL_TIME, CM_BT709, CONSTANT_ID, CP_BT709, ENCODER_OPTION_TRACE_LEVEL,
    ISVCEncoder, ISVCEncoderVtbl, MEDIUM_COMPLEXITY, PRO_BASELINE, RC_OFF_MODE, SEncParamExt,
    SFrameBSInfo, SLayerBSInfo, SM_SINGLE_SLICE, SSourcePicture, TRC_BT709, VF_UNDEF,
    WELS_LOG_QUIET, cmResultSuccess, videoFormatI420, videoFrameTypeIDR,
};

/// The encoder of one video: Constrained Baseline profile, one slice a picture, no B pictures, one
/// thread, the same quantizer throughout; BT.709 of limited range, and tagged so. The level is the
/// lowest for the size and the rate. Each picture goes in and comes out in turn, none is skipped,
/// and the same pictures give the same bytes.
pub(crate) struct H264Encoder {
    encoder: NonNull<ISVCEncoder>,
    size: Size,
    /// A call failed; the library may have freed what the next would use.
    failed: bool,
}

/// The QPs at which pictures of the worst noise are known to fit OpenH264's buffers. H.264 ends at
/// 51.
pub(crate) const QUANTIZERS: RangeInclusive<u8> = 10..=51;

/// What the encoder is told about a video.
#[derive(Clone, Copy, Debug)]
pub(crate) struct H264Settings {
    /// The size of all pictures, within what OpenH264 takes.
    pub size: Size,
    pub frame_rate: FrameRate,
    /// QP, of [`QUANTIZERS`].
    pub quantizer: u8,
    /// At most so many frames from one key frame to the next; at least 1.
    pub key_frame_interval: u32,
}

/// OpenH264 refused a video or a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("OpenH264 does not {operation} (its error code is {code})")]
pub struct EncodeError {
    operation: &'static str,
    code: i32,
}

impl H264Encoder {
    /// An encoder that is ready for the first picture.
    pub(crate) fn new(settings: &H264Settings) -> Result<Self, EncodeError> {
        let mut encoder = ptr::null_mut();
        // SAFETY: the pointer to write to is valid for the call.
        let code = unsafe { OpenH264::WelsCreateSVCEncoder(&raw mut encoder) };
        check(code, "start")?;
        let encoder = Self {
            encoder: NonNull::new(encoder).ok_or(EncodeError::missing("start"))?,
            size: settings.size,
            failed: false,
        };
        encoder.silence()?;
        encoder.initialize(settings)?;
        Ok(encoder)
    }

    /// Keeps the library from writing to the terminal; its errors come as codes as well.
    fn silence(&self) -> Result<(), EncodeError> {
        let set_option = self.functions().SetOption;
        let set_option = set_option.ok_or(EncodeError::missing("take options"))?;
        let mut level = WELS_LOG_QUIET as c_int;
        // SAFETY: `encoder` is alive, and this option is read from an `int`, during the call.
        let code = unsafe {
            set_option(
                self.encoder.as_ptr(),
                ENCODER_OPTION_TRACE_LEVEL,
                (&raw mut level).cast(),
            )
        };
        check(code, "take options")
    }

    fn initialize(&self, settings: &H264Settings) -> Result<(), EncodeError> {
        let functions = self.functions();
        let defaults = functions.GetDefaultParams;
        let defaults = defaults.ok_or(EncodeError::missing("give its defaults"))?;
        let initialize = functions.InitializeExt;
        let initialize = initialize.ok_or(EncodeError::missing("take this video"))?;

        let mut parameters = SEncParamExt::default();
        // SAFETY: `encoder` is alive, and the parameters are written during the call.
        let code = unsafe { defaults(self.encoder.as_ptr(), &raw mut parameters) };
        check(code, "give its defaults")?;
        settings.write_to(&mut parameters);
        // SAFETY: `encoder` is alive, and the parameters are read during the call.
        let code = unsafe { initialize(self.encoder.as_ptr(), &raw const parameters) };
        check(code, "take this video")
    }

    /// Encodes the next picture. After an error, every picture is refused.
    ///
    /// # Panics
    ///
    /// If `planes` are not those of a picture of the video's size.
    pub(crate) fn encode(&mut self, planes: I420Planes<'_>) -> Result<Picture<'_>, EncodeError> {
        const OPERATION: &str = "encode this picture";
        let I420Planes { y, cb, cr } = planes;
        let chroma = I420Planes::chroma_size(self.size);
        for (plane, size) in [(&*y, self.size), (&*cb, chroma), (&*cr, chroma)] {
            let samples = size.width as usize * size.height as usize;
            assert_eq!(plane.len(), samples, "samples of a plane of {size}");
        }
        if self.failed {
            return Err(EncodeError::missing(OPERATION));
        }
        let encode = self.functions().EncodeFrame;
        let encode = encode.ok_or(EncodeError::missing(OPERATION))?;

        let stride = |size: Size| size.width as c_int;
        let source = SSourcePicture {
            iColorFormat: videoFormatI420,
            iStride: [stride(self.size), stride(chroma), stride(chroma), 0],
            pData: [
                y.as_mut_ptr(),
                cb.as_mut_ptr(),
                cr.as_mut_ptr(),
                ptr::null_mut(),
            ],
            iPicWidth: self.size.width as c_int,
            iPicHeight: self.size.height as c_int,
            ..SSourcePicture::default()
        };
        let mut info = SFrameBSInfo::default();
        // SAFETY: `encoder` is alive and initialised, and no call on it failed. The planes hold as
        // many samples as the size and strides say, and are borrowed until the call returns.
        let code = unsafe { encode(self.encoder.as_ptr(), &raw const source, &raw mut info) };
        // Nothing is skipped, so a picture without a layer is a failure too.
        self.failed = code != cmResultSuccess || info.iLayerNum == 0;
        check(code, OPERATION)?;
        if self.failed {
            return Err(EncodeError::missing(OPERATION));
        }
        Ok(Picture {
            info,
            encoder: PhantomData,
        })
    }

    fn functions(&self) -> ISVCEncoderVtbl {
        // SAFETY: the library made `encoder` as an object that begins with a pointer to its table.
        let table = unsafe { self.encoder.read() };
        // SAFETY: the table is a constant of the library, which is linked in.
        unsafe { table.read() }
    }
}

impl Drop for H264Encoder {
    fn drop(&mut self) {
        // SAFETY: `encoder` was made by the function that belongs to this one, is used by nothing
        // else, and is not used again. Its destructor gives back what initialisation took.
        unsafe { OpenH264::WelsDestroySVCEncoder(self.encoder.as_ptr()) };
    }
}

// SAFETY: the library keeps an encoder's state in the object alone, nothing of it belongs to a
// thread, and whoever owns the object makes all calls on it.
unsafe impl Send for H264Encoder {}

impl H264Settings {
    fn write_to(&self, parameters: &mut SEncParamExt) {
        let (width, height) = (self.size.width as c_int, self.size.height as c_int);
        let frames_per_second =
            f64::from(self.frame_rate.numerator()) / f64::from(self.frame_rate.denominator());

        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME;
        parameters.iPicWidth = width;
        parameters.iPicHeight = height;
        parameters.fMaxFrameRate = frames_per_second as f32;
        parameters.iTemporalLayerNum = 1;
        parameters.iSpatialLayerNum = 1;
        parameters.iComplexityMode = MEDIUM_COMPLEXITY;
        parameters.uiIntraPeriod = self.key_frame_interval;
        // One SPS and one PPS for the whole video, as the file has room for only one place.
        parameters.eSpsPpsIdStrategy = CONSTANT_ID;
        // CAVLC: the library's CABAC writes past the end of its buffer where pictures are too much
        // for it. Without CABAC, nothing of the higher profiles would be used.
        parameters.iEntropyCodingModeFlag = 0;
        parameters.iMultipleThreadIdc = 1;
        // One slice needs no balance, and without it the buffers are twice as large.
        parameters.bUseLoadBalancing = false;
        parameters.iRCMode = RC_OFF_MODE;
        parameters.bEnableFrameSkip = false;
        parameters.bEnableAdaptiveQuant = false;
        // It codes what it takes for background more coarsely.
        parameters.bEnableBackgroundDetection = false;
        parameters.bEnableSceneChangeDetect = true;

        let layer = &mut parameters.sSpatialLayers[0];
        layer.iVideoWidth = width;
        layer.iVideoHeight = height;
        layer.fFrameRate = frames_per_second as f32;
        layer.uiProfileIdc = PRO_BASELINE;
        layer.iDLayerQp = c_int::from(self.quantizer);
        layer.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
        layer.bVideoSignalTypePresent = true;
        layer.uiVideoFormat = VF_UNDEF as u8;
        layer.bFullRange = false;
        layer.bColorDescriptionPresent = true;
        layer.uiColorPrimaries = CP_BT709 as u8;
        layer.uiTransferCharacteristics = TRC_BT709 as u8;
        layer.uiColorMatrix = CM_BT709 as u8;
    }
}

/// An encoded picture, in the encoder's memory.
pub(crate) struct Picture<'a> {
    info: SFrameBSInfo,
    encoder: PhantomData<&'a mut H264Encoder>,
}

impl Picture<'_> {
    /// Whether decoding can begin with this picture.
    pub(crate) fn is_key_frame(&self) -> bool {
        self.info.eFrameType == videoFrameTypeIDR
    }

    /// Its NAL units in order, parameter sets included, without start codes.
    pub(crate) fn nal_units(&self) -> impl Iterator<Item = &[u8]> {
        let layers = self.info.sLayerInfo.get(..self.info.iLayerNum as usize);
        let units = layers.unwrap_or_default().iter().flat_map(|layer| {
            // SAFETY: the library has described this layer, and leaves what it points to until the
            // next call on the encoder, which is borrowed as long as `self` is.
            unsafe { nal_units_of(layer) }
        });
        units.map(|unit| {
            // A start code is two or three zeros and a one.
            let zeros = unit.iter().take_while(|&&byte| byte == 0).count();
            unit.get(zeros + 1..).unwrap_or_default()
        })
    }
}

/// The NAL units of a layer, each behind its start code.
///
/// # Safety
///
/// The library has written `layer`, and nothing was called on its encoder since, or will be as long
/// as the units are used.
unsafe fn nal_units_of(layer: &SLayerBSInfo) -> impl Iterator<Item = &[u8]> {
    let lengths: &[c_int] = match layer.iNalCount as usize {
        0 => &[],
        // SAFETY: the library has written as many lengths there, and the caller sees to the rest.
        count => unsafe { slice::from_raw_parts(layer.pNalLengthInByte, count) },
    };
    let mut start = layer.pBsBuf;
    lengths.iter().map(move |&length| {
        // SAFETY: the units lie one after another, of these lengths.
        let unit = unsafe { slice::from_raw_parts(start, length as usize) };
        // SAFETY: so this is the next unit's start, or the end of them all.
        start = unsafe { start.add(length as usize) };
        unit
    })
}

impl EncodeError {
    /// The library gives nothing to call or to read, without a code of its own.
    fn missing(operation: &'static str) -> Self {
        Self {
            operation,
            code: openh264_sys2::cmInitExpected,
        }
    }
}

fn check(code: c_int, operation: &'static str) -> Result<(), EncodeError> {
    if code == cmResultSuccess {
        Ok(())
    } else {
        Err(EncodeError { operation, code })
    }
}

impl std::fmt::Debug for H264Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("H264Encoder")
            .field("size", &self.size)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
